import { Client, type ClientParts } from './client.ts'
import type { Reader } from './sessions/stream-client.ts'
import { callAs, type Identity } from './world/identities.ts'

/** Follows the log of one session from its start to the end of the run, over any number of connections. */
export class Watcher extends Client {
  readonly log: Reader
  stopped = false

  constructor(name: string, identity: Identity, session: string, parts: ClientParts) {
    super(name, identity, parts)
    this.log = this.reader(session, 0)
  }

  async watch(): Promise<void> {
    const reader = this.log
    const session_id = reader.session
    while (!this.stopped) {
      const answer = await this.received(
        `follows ${session_id} after ${reader.last}`,
        async ({ useCases }, node, waited) => {
          if (waited()) reader.leave()
          const call = callAs(this.identity, { session_id }, {}, undefined, null, reader.last)
          const { stream } = await useCases['sessions.stream'](call)
          return { ended: reader.follow(stream, node, waited, () => this.stopped) }
        },
      )
      if ('code' in answer) {
        const { ledger } = this.parts
        ledger.expect(ledger.isDeleted(session_id), () => `${this.name} is refused ${session_id}: ${answer.code}`)
        return
      }
      await answer.value.ended
    }
  }

  /** Whether every event of the log was received. */
  get isUpToDate(): boolean {
    const { ledger } = this.parts
    const { session, seen } = this.log
    return ledger.isDeleted(session) || (ledger.actors.has(session) && ledger.unseen(session, seen) === 0)
  }
}
