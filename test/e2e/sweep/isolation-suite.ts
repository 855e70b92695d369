import { expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import type { Api } from '../api.ts'
import { namesId } from './declared-places.ts'
import { declaredEstate, partFileOf } from './estate/parts.ts'
import type { Estate } from './estate.ts'
import type { PartOf, Swept } from './sweep.ts'

/*
 * Two projects with two tenants each, all with the same names: no request of one shows data of another. The operations
 * are derived from the declarations, so new ones are covered too. Ids in paths are tested by refusals-suite.ts and
 * foreign-ids-suite.ts.
 */

const declared: readonly Operation[] = Object.values(operations)
const guarded = declared.filter(({ access }) => !access.kinds.includes('public'))
const reading = guarded.filter(({ id, method }) => method === 'GET' || id === 'tenants.export')
const { chosen, common, once } = declaredEstate
/** Names of fields that identify an owner. */
const byId = (names: readonly string[]) =>
  names.filter((name) => namesId(name) && !chosen.has(name) && !common.has(name))
const filtered = reading.flatMap((operation) =>
  byId(Object.keys(operation.query)).map((name) => ({ id: operation.id, operation, name })),
)
const naming = guarded.flatMap((operation) =>
  byId(Object.keys(operation.body?.json.properties ?? {})).map((name) => ({ id: operation.id, operation, name })),
)

/** The signs in a text. */
const signsIn = (text: string, signs: readonly string[]): readonly string[] =>
  signs.filter((sign) => text.includes(sign))

/** Tests with two projects of two tenants each that no data of one is shown to another. */
export const isolation = (swept: () => Swept, partOf: PartOf): void => {
  /** The whole answer as text; of an endless stream the log so far, which is one completed turn. */
  const textOf = async (api: Api, operation: Operation, path: string, accept = '*/*'): Promise<string> => {
    const { method, answer } = operation
    const headers = { accept, 'x-project-id': swept().mine.project }
    const response = await api.send(path, undefined, { method, headers })
    const { statusCode = 0 } = response
    const isEndless = statusCode < 300 && answer.kind === 'events' && answer.resumable
    let text = ''
    // leaving the loop closes the connection
    for await (const part of response) {
      text += String(part)
      if (isEndless && text.includes('turn.completed') && text.endsWith('\n\n')) break
    }
    return text
  }

  const apisFor = ({ access }: Operation): readonly Api[] => [
    ...(access.kinds.includes('secret_key') ? [swept().mine.api] : []),
    ...(access.kinds.includes('dashboard') ? [swept().mine.dashboard] : []),
  ]

  it.each(partOf(reading))('$id shows nothing of another project', async (operation) => {
    const { mine, theirs } = swept()
    const foreign = [...theirs.acme.signs, ...theirs.globex.signs]
    const path = mine.acme.pathOf(operation)
    for (const api of apisFor(operation)) {
      for (const accept of ['*/*', 'text/event-stream', 'application/x-ndjson'])
        expect(signsIn(await textOf(api, operation, path, accept), foreign)).toEqual([])
    }
    expect(path).not.toContain('{')
  })

  const ofTenants = reading.filter(({ params }) =>
    params.some((name) => ['tenant_id', 'installation_id', 'run_id', 'session_id', 'action_id'].includes(name)),
  )
  it.each(partOf(ofTenants))('$id of one tenant shows nothing of another', async (operation) => {
    const { acme, globex } = swept().mine
    // webhooks belong to the project and are notified of both tenants
    const shared = [...globex.all('webhook_id'), ...globex.all('delivery_id')]
    const foreign = globex.signs.filter((each) => !shared.includes(each))
    for (const api of apisFor(operation)) {
      const text = await textOf(api, operation, acme.pathOf(operation))
      const own = acme.signs.find((sign) => text.includes(sign))
      const isEmpty = operation.answer.kind === 'events' && operation.answer.mayBeEmpty && text === ''
      if (!isEmpty) expect(text).toContain(operation.id.startsWith('tenant_users') ? acme.id('external_user_id') : own)
      expect(signsIn(text, foreign)).toEqual([])
    }
  })

  it.each(partOf(filtered))('$id returns no rows for another project’s $name', async ({ operation, name }) => {
    const { mine, theirs } = swept()
    const id = theirs.acme.id(name)
    const foreign = theirs.acme.signs.filter((each) => each !== id)
    for (const api of apisFor(operation)) {
      const text = await textOf(api, operation, `${mine.acme.pathOf(operation)}?${name}=${id}`)
      expect(signsIn(text, foreign)).toEqual([])
      if (text.startsWith('{') && JSON.parse(text).data !== undefined) expect(JSON.parse(text).data).toEqual([])
    }
  })

  /** A body with one more id. */
  const withName = ({ body }: Operation, own: object, name: string, id: string): object => ({
    ...own,
    [name]: body?.json.properties?.[name]?.type === 'array' ? [id] : id,
  })

  it.each(partOf(naming))('$id refuses a $name of another project', async ({ id, operation, name }) => {
    const { mine, theirs } = swept()
    const api = operation.access.kinds.includes('secret_key') ? mine.api : mine.dashboard
    const path = mine.acme.pathOf(operation)
    const idIn = (estate: Estate, body: Readonly<Record<string, unknown>>) =>
      String([body[name] ?? estate.id(name)].flat()[0])
    const own = await mine.acme.bodyOf(operation)
    if (once[id] === undefined) {
      const body = withName(operation, own, name, idIn(mine.acme, own))
      const control = await api.post(path, body, { method: operation.method })
      const hint = `say in ${partFileOf(operation)} what it takes`
      expect(control.status, `${hint}: ${JSON.stringify(control.body)}`).toBeLessThan(300)
    }
    const foreign = idIn(theirs.acme, await theirs.acme.bodyOf(operation))
    const body = withName(operation, await mine.acme.bodyOf(operation), name, foreign)
    const refused = await api.post(path, body, { method: operation.method })
    expect(once[id] === undefined ? [404, 422] : [400, 403, 404, 409, 422]).toContain(refused.status)
    const others = theirs.acme.signs.filter((each) => each !== foreign)
    expect(signsIn(JSON.stringify(refused.body), others)).toEqual([])
  })

  const ofClients = reading.filter(({ access }) => access.kinds.includes('client_token'))
  it.each(partOf(ofClients))(
    "$id shows a user's token nothing of another user, tenant or project",
    async (operation) => {
      const { world, mine, theirs } = swept()
      const { sessions, token } = mine.acme.populated
      const client = world.as(token)
      const ofBob = sessions.slice(2)
      const foreign = [...ofBob, ...[mine.globex, theirs.acme, theirs.globex].flatMap(({ signs }) => signs)]
      expect(signsIn(await textOf(client, operation, mine.acme.pathOf(operation)), foreign)).toEqual([])
      if (!operation.params.includes('session_id')) return
      for (const session of [...ofBob, mine.globex.id('session_id'), theirs.acme.id('session_id')]) {
        const path = mine.acme.with({ session_id: session }).pathOf(operation)
        expect((await client.get(path, { method: operation.method })).status).toBe(404)
      }
    },
  )
}
