import { Client } from '../client.ts'
import { callAs } from '../world/identities.ts'

/** Reads pages of sessions at any process, which have at least what any reader was shown before. */
export class PageClient extends Client {
  /** Reads the messages and the events of a session. */
  async read(session_id: string): Promise<void> {
    const { ledger } = this.parts
    const shown = ledger.newestShown(session_id)
    const call = <Q>(query: Q) => callAs(this.identity, { session_id }, query, undefined, null)
    const answer = await this.received(`reads ${session_id} from ${shown} on`, async ({ useCases }) => {
      const messages = await useCases['sessions.messages'](call({ limit: 50 }))
      const events = await useCases['sessions.events'](call({ page: 1, limit: 1 }))
      return [messages.last_event_id, events.pagination.total]
    })
    if ('code' in answer) return
    const [messages = 0, events = 0] = answer.value
    ledger.expect(
      messages >= shown && events >= shown,
      () => `${this.name} reads ${session_id} up to ${messages} and ${events}, and #${shown} was shown before`,
    )
  }
}
