/** The way in: starts the explorer on the page that the server wrote. */

import { Explorer } from './explorer.ts'
import { Session } from './session.ts'

start()

function start(): void {
  const explorer = new Explorer(new Session(document.body.dataset['baseUrl'] ?? location.origin, location.origin))
  document.addEventListener('click', (event) => explorer.follow(event))
  document.addEventListener('keydown', (event) => explorer.press(event))
  window.addEventListener('popstate', explorer.show)
  void explorer.show()
}
