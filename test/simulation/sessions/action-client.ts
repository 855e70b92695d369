import { Client } from '../client.ts'
import { callAs } from '../world/identities.ts'

/** A client that decides on actions. */
export class ActionClient extends Client {
  async approveAction(action_id: string): Promise<void> {
    const idempotency = this.key()
    const body = { tool_results: [{ action_id, output: `output of ${action_id}` }] }
    await this.received(`approves ${action_id} by itself`, async ({ useCases }) => {
      await useCases['actions.approve'](callAs(this.identity, { action_id }, {}, body, idempotency))
      this.acknowledged(action_id, idempotency.cause, 'approve')
    })
  }

  async rejectAction(action_id: string): Promise<void> {
    const idempotency = this.key()
    await this.received(`rejects ${action_id} by itself`, async ({ useCases }) => {
      await useCases['actions.reject'](callAs(this.identity, { action_id }, {}, {}, idempotency))
      this.acknowledged(action_id, idempotency.cause, 'reject')
    })
  }

  /** Checks that a decision that was acknowledged is in the log. */
  acknowledged(action: string, cause: string, type: 'approve' | 'reject'): void {
    const { ledger } = this.parts
    const commits = ledger.actors.get(action)?.commits ?? []
    // an earlier decision is returned as it stands; a cancelled action is rejected
    const taken = type === 'reject' ? ['reject', 'cancel'] : [type]
    const there = ledger.has(action, cause) || commits.some(({ event }) => taken.includes(event.type))
    ledger.expect(there, () => `${action} is told to be decided (${type}), but is not`)
  }
}
