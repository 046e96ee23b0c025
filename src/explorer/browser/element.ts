/** Makes elements. What comes from items gets into the page as text alone: there is no way here for markup. */

export type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => unknown)>>
export type Child = Node | string

/** A function among the attributes listens to the event of that name. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[Name] {
  return furnished(document.createElement(name), attributes, children)
}

export function graphic<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...children: readonly Child[]
): SVGElementTagNameMap[Name] {
  return furnished(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children)
}

export function button(text: string, click: (event: Event) => unknown, attributes: Attributes = {}): HTMLButtonElement {
  return element('button', { type: 'button', click, ...attributes }, text)
}

function furnished<E extends Element>(made: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes))
    if (typeof value === 'function') made.addEventListener(name, value)
    else if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : `${value}`)
  made.append(...children)
  return made
}
