import { Client } from '../client.ts'
import { callAs } from '../world/identities.ts'

/** A client that decides about actions. */
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

  /** What a client was answered to its decision stands in the log. */
  acknowledged(action: string, cause: string, type: 'approve' | 'reject'): void {
    const { ledger } = this.parts
    const commits = ledger.actors.get(action)?.commits ?? []
    // a decision that was taken before is answered as it stands; what was withdrawn is rejected
    const taken = type === 'reject' ? ['reject', 'cancel'] : [type]
    const there = ledger.has(action, cause) || commits.some(({ event }) => taken.includes(event.type))
    ledger.expect(there, () => `${action} is told to be decided (${type}), but is not`)
  }
}
