/** How a database is called in messages: its URL as it was given, without the password. */

/** Stands for a URL that cannot be taken apart with certainty: any part of it could be the password. */
const HIDDEN = '://…'

/** Scheme, credentials, host with port, path, query. What stands after a colon is a port only if it is a number. */
const PARTS =
  /^((?:postgres(?:ql)?|mysql|mariadb):\/\/)(?:([^@/?#]*)@)?((?:\[[^@/?#\]]*\]|[^@/?#:]*)(?::[0-9]*)?)(\/[^@?#]*)?(?:\?([^@#?]*))?$/i

interface DatabaseLabel {
  readonly label: string
  /** Whether the URL holds a password. */
  readonly hasPassword: boolean
}

export function isPostgresUrl(location: string): boolean {
  return /^postgres(ql)?:/i.test(location)
}

/** MariaDB speaks the same protocol. */
export function isMysqlUrl(location: string): boolean {
  return /^(mysql|mariadb):/i.test(location)
}

export function readDatabaseLabel(url: string): DatabaseLabel {
  const parts = PARTS.exec(url)
  if (parts === null) return { label: url.slice(0, url.indexOf(':')) + HIDDEN, hasPassword: false }
  const [, scheme = '', credentials = '', host = '', path = '', query = ''] = parts
  const user = credentials.replace(/:.*/s, '')
  const parameters = query.split('&').filter((parameter) => parameter !== '')
  const shown = parameters.filter((parameter) => !/^[^=]*password=/i.test(parameter))
  const hasUser = credentials !== '' || url.startsWith(`${scheme}@`)
  return {
    label: `${scheme}${hasUser ? `${user}@` : ''}${host}${path}${shown.length === 0 ? '' : `?${shown.join('&')}`}`,
    hasPassword: user.length < credentials.length || shown.length < parameters.length,
  }
}

/** Whether the URL can be taken apart: an @ or a # that is part of a password has to be written as %40 or %23. */
export function isReadable(url: string): boolean {
  return !readDatabaseLabel(url).label.endsWith(HIDDEN)
}
