/** For what may fail without harm, such as a look into /proc: not every system has it, and processes go while one looks. */

export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
