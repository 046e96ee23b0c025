/** Figures inside a page that is written by hand: `<!-- figure: NAME -->…<!-- / -->` holds what is filled in. */

const FIGURE = /<!-- figure: ([\w-]+) -->[\s\S]*?<!-- \/ -->/g

/** Throws where the page names a figure that there is not. */
export function fill(page: string, values: ReadonlyMap<string, string>): string {
  return page.replaceAll(FIGURE, (_, name: string) => {
    const value = values.get(name)
    if (value === undefined)
      throw new Error(`There is no figure "${name}". There are: ${[...values.keys()].join(', ')}.`)
    return `<!-- figure: ${name} -->${value}<!-- / -->`
  })
}

/** The names of the figures in a page, in order. */
export function figureNames(page: string): string[] {
  return [...page.matchAll(FIGURE)].map(([, name = '']) => name)
}
