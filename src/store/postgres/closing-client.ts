/** A client that can hang up. The driver says goodbye, which waits for a server that no longer answers. */

import { Client } from 'pg'

type Callback = (error: Error | null, client?: Client) => void

export class ClosingClient extends Client {
  override connect(): Promise<Client>
  override connect(callback: Callback): void
  override connect(callback?: Callback): Promise<Client> | undefined {
    if (callback === undefined) return super.connect()
    super.connect((error: Error | null, client?: Client) => {
      // The driver keeps the line open where a password is missing.
      if (error) this.hangUp()
      callback(error, client)
    })
    return undefined
  }

  hangUp(): void {
    this.connection.stream.destroy()
  }
}
