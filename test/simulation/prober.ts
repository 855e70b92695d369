import { covers } from '#storage/scope.ts'
import { Client } from './client.ts'
import { callAs } from './world/identities.ts'
import type { Server } from './world/node.ts'

/** A client that requests the resources of other owners, and checks what lists show. */
export class Prober extends Client {
  /** Requests an actor in one of many ways. An actor outside its scope is not found. */
  async probe(id: string): Promise<void> {
    const { ledger, random } = this.parts
    const owner = ledger.ownerOf(id)
    if (owner === undefined || covers(this.identity.scope, owner)) return
    const way = random.pick(this.#waysTo(id))
    if (way === undefined) return
    const answer = await this.received(`probes ${id}`, way)
    const refused = 'code' in answer && answer.code === 'not_found'
    ledger.expect(refused, () => `${this.name} gets at ${id}: ${JSON.stringify(answer)}`)
  }

  /** Checks that lists show only what the scope covers. */
  async list(): Promise<void> {
    const { ledger } = this.parts
    const { scope } = this.identity
    const answer = await this.received('lists sessions', async ({ useCases }) => {
      const { data } = await useCases['sessions.list'](callAs(this.identity, {}, { page: 1, limit: 100 }, undefined))
      return data.map(({ id }) => id)
    })
    if ('code' in answer) return
    for (const id of answer.value) {
      const owner = ledger.ownerOf(id)
      ledger.expect(owner !== undefined && covers(scope, owner), () => `the list of ${this.name} shows ${id}`)
    }
  }

  #waysTo(id: string): readonly ((server: Server) => Promise<unknown>)[] {
    if (id.startsWith('ses_')) return this.#sessionWays(id)
    if (id.startsWith('run_')) return this.#runWays(id)
    return id.startsWith('act_') ? this.#actionWays(id) : []
  }

  #sessionWays(session_id: string): readonly ((server: Server) => Promise<unknown>)[] {
    const call = <B>(body: B) => callAs(this.identity, { session_id }, {}, body, this.key())
    const page = { page: 1, limit: 10 }
    return [
      ({ useCases }) => useCases['sessions.get'](call(undefined)),
      ({ useCases }) => useCases['sessions.turns'](call({ input: 'mine?' })),
      ({ useCases }) => useCases['sessions.cancel'](call({})),
      ({ useCases }) => useCases['sessions.delete'](call(undefined)),
      ({ useCases }) => useCases['sessions.stream'](call(undefined)),
      ({ useCases }) => useCases['sessions.events']({ ...call(undefined), query: page }),
    ]
  }

  #actionWays(action_id: string): readonly ((server: Server) => Promise<unknown>)[] {
    const call = <B>(body: B) => callAs(this.identity, { action_id }, {}, body, this.key())
    return [
      ({ useCases }) => useCases['actions.get'](call(undefined)),
      ({ useCases }) => useCases['actions.approve'](call({})),
      ({ useCases }) => useCases['actions.reject'](call({})),
    ]
  }

  #runWays(run_id: string): readonly ((server: Server) => Promise<unknown>)[] {
    const call = <B>(body: B) => callAs(this.identity, { run_id }, {}, body, this.key())
    const body = { agent_version_id: 'agv_1', input: 'mine?' }
    return [
      ({ useCases }) => useCases['runs.get'](call(undefined)),
      ({ useCases }) => useCases['runs.cancel'](call({})),
      ({ useCases }) => useCases['runs.delegate'](call(body)),
      ({ useCases }) => useCases['runs.events']({ ...call(undefined), query: { limit: 10 } }),
    ]
  }
}
