/** HTML that is escaped by construction: whatever a template takes in is text, unless it was made by a template itself. */

export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = Html | string | number | undefined | readonly Content[]

/** Attributes have to stand in double quotes. */
export function html(parts: TemplateStringsArray, ...contents: Content[]): Html {
  let text = parts[0] as string
  for (let place = 0; place < contents.length; place++) text += textOf(contents[place]) + parts[place + 1]
  return new Html(text)
}

function textOf(content: Content): string {
  if (content instanceof Html) return content.text
  if (typeof content === 'string') return escaped(content)
  if (typeof content === 'number') return String(content)
  return content === undefined ? '' : content.map(textOf).join('')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\0': '\ufffd',
}

function escaped(text: string): string {
  return /[&<>"'\0]/.test(text) ? text.replace(/[&<>"'\0]/g, (character) => ENTITIES[character] ?? '') : text
}
