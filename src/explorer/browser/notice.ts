/** What stands there instead of data: nothing to show, or nothing that could be read. */

import { ClientError, ConnectionLost } from '../../client/client-error.ts'
import { button, type Child, element } from './element.ts'

export function notice(title: string, text: string, ...more: readonly Child[]): HTMLElement {
  return element(
    'section',
    { class: 'notice' },
    element('h1', { tabindex: -1 }, title),
    element('p', {}, text),
    ...more,
  )
}

/** `retry` asks again; so does the browser when it is online again. */
export function failure(error: unknown, retry: () => void, signal: AbortSignal): HTMLElement {
  const { url, status = 0, problem } = error instanceof ClientError ? error : new ClientError('', { url: '' }, '')
  const actions = element('div', { class: 'row' }, button('Try again', retry))
  if ([401, 403, 404].includes(status)) actions.append(element('button', { popovertarget: 'token' }, 'Enter a token'))
  window.addEventListener('online', retry, { signal })
  const [title, text] = navigator.onLine
    ? [
        problem?.title ?? titleOf(error),
        problem ? `${problem.detail ?? ''} ${problem.hint ?? ''}` : (error as Error).message,
      ]
    : ['You are offline', 'This page asks again as soon as there is a connection.']
  return notice(title, text, element('p', { class: 'quiet' }, `${status || ''} ${url}`), actions)
}

function titleOf(error: unknown): string {
  return error instanceof ConnectionLost ? 'The server does not answer' : 'This cannot be shown'
}
