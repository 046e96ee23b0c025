/** The part of the package `pgpass` that is used here; it brings no types of its own. */

declare module 'pgpass' {
  export default function readPassword(
    connection: { host: string; port: number; database: string; user: string },
    callback: (password: string | undefined) => void,
  ): void
}
