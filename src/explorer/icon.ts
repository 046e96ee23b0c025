/** The icon of the explorer: three sheets of a ream. */

export const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g fill="#fff" stroke="#2b5a9b">' +
  '<path d="M5.5 1.5h8v10h-8z"/><path d="M4 3h8v10H4z"/><path d="M2.5 4.5h8v10h-8z"/>' +
  '<path d="M4.5 7.5h4m-4 2h4m-4 2h2"/></g></svg>'
