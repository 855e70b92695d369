import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Api } from '../api.ts'
import { either, World } from '../world.ts'
import { KnowledgeBase } from './knowledge-world.ts'

describe.each(either('mongo'))('access to a knowledge base on $store', ({ store }) => {
  let world: World
  const ids: Record<string, string> = {}

  const created = async (path: string, body: object): Promise<string> => {
    const answer = await world.api.post(path, body)
    if (answer.status >= 300) throw new Error(JSON.stringify(answer.body))
    return answer.body.id
  }
  const put = async (path: string): Promise<string> => (await world.api.post(path, {}, { method: 'PUT' })).body.id
  const token = async (tenant: string, user: string, installation_ids?: readonly string[]): Promise<Api> => {
    const body = { tenant_id: ids[tenant], external_user_id: user, ...(installation_ids && { installation_ids }) }
    return world.as((await world.api.post('/v1/client-tokens', body)).body.token)
  }
  const agentKey = async (agent: string): Promise<Api> =>
    world.as((await world.api.post(`/v1/agents/${agent}/keys`, { name: 'k', key_type: 'secret' })).body.key)

  const otters = async (body: object = {}): Promise<KnowledgeBase> => {
    const base = await KnowledgeBase.create(world.api, body)
    await base.add({ text: 'Otters hold hands while they sleep.' })
    return base
  }
  /** Result of a search: 'found', 'nothing' or the error status. */
  const sees = async (base: KnowledgeBase, api: Api, more: object = {}): Promise<string | number> => {
    const { status, body } = await base.as(api).search('otters', more)
    if (status !== 200) return status
    return body.data.length > 0 ? 'found' : 'nothing'
  }

  beforeAll(async () => {
    world = await World.start({ store })
    for (const name of ['acme', 'globex']) ids[name] = await created('/v1/tenants', { external_id: name, name })
    for (const user of ['ann', 'bob']) ids[user] = await put(`/v1/tenants/${ids.acme}/users/${user}`)
    for (const agent of ['guide', 'other']) {
      ids[agent] = await created('/v1/agents', { name: agent, config: { model: 'simulated-1', system_prompt: 'x' } })
      const version = `/v1/agents/${ids[agent]}/versions`
      await created(version, { version: '1.0.0', config: { model: 'simulated-1', system_prompt: 'x' } })
      await world.api.post(`${version}/1.0.0/publish`)
      const installation = { tenant_id: ids.acme, agent_id: ids[agent], version: '1.0.0' }
      ids[`${agent} at acme`] = await created('/v1/agent-installations', installation)
    }
  })
  afterAll(() => world.stop())

  it('is limited to the project without a grant', async () => {
    const base = await otters()
    expect(await sees(base, world.api)).toBe('found')
    expect(await sees(base, await world.dashboard())).toBe('found')
    expect(await sees(base, await token('acme', 'ann'))).toBe(404)
    expect(await sees(base, await agentKey(ids.guide ?? ''))).toBe(404)
    expect(await sees(base, world.as('csk_wrong'))).toBe(401)
    for (const name of ['acme', 'ann', 'guide', 'guide at acme'])
      expect(await sees(base, world.api, { subject: subjectOf(name, ids) })).toBe('nothing')
  })

  it.each([
    { granted: 'acme', open: ['ann', 'bob'], agents: [] },
    { granted: 'ann', open: ['ann'], agents: [] },
    { granted: 'guide', open: [], agents: ['guide'] },
    { granted: 'guide at acme', open: ['ann', 'bob'], agents: [] },
  ])('is given by a grant to $granted to its subject alone, until it is revoked', async ({ granted, open, agents }) => {
    const base = await otters()
    const { type, id } = subjectOf(granted, ids)
    const grant = (await base.grant(type, id)).body
    expect(grant).toMatchObject({ subject_type: type, subject_id: id, permissions: ['read'] })
    expect((await base.grant(type, id)).body).toEqual(grant)
    expect((await world.api.get(`${base.path}/grants?subject_type=${type}`)).body.data).toEqual([grant])
    const read = async () => ({
      open: await whoOf(['ann', 'bob'], async (user) => sees(base, await token('acme', user))),
      agents: await whoOf(['guide', 'other'], async (agent) => sees(base, await agentKey(ids[agent] ?? ''))),
      stranger: await sees(base, await token('globex', 'ann')),
    })
    expect(await read()).toEqual({ open, agents, stranger: 404 })
    expect(await sees(base, world.api, { subject: { type, id } })).toBe('found')
    await world.api.get(`${base.path}/grants/${grant.id}`, { method: 'DELETE' })
    expect(await read()).toEqual({ open: [], agents: [], stranger: 404 })
  })

  it('is denied to a public key, even with a grant to its agent', async () => {
    const base = await otters()
    await base.grant('agent', ids.guide ?? '')
    const { body } = await world.api.post(`/v1/agents/${ids.guide}/keys`, { name: 'page', key_type: 'public' })
    const { status, body: refused } = await base.as(world.as(body.key)).search('otters')
    expect({ status, code: refused.error.code }).toEqual({ status: 403, code: 'forbidden' })
  })

  it('is given by a grant to an installation only to tokens of that installation', async () => {
    const base = await otters()
    await base.grant('installation', ids['guide at acme'] ?? '')
    expect(await sees(base, await token('acme', 'ann', [ids['guide at acme'] ?? '']))).toBe('found')
    expect(await sees(base, await token('acme', 'ann', [ids['other at acme'] ?? '']))).toBe(404)
  })

  it('is not given by a grant to an installation while that is disabled', async () => {
    const base = await otters()
    const id = ids['guide at acme'] ?? ''
    await base.grant('installation', id)
    const ann = await token('acme', 'ann', [id, ids['other at acme'] ?? ''])
    const seen = async () => [
      await sees(base, ann),
      await sees(base, world.api, { subject: { type: 'installation', id } }),
    ]
    const set = (status: string) => world.api.post(`/v1/agent-installations/${id}`, { status }, { method: 'PATCH' })
    await set('disabled')
    expect(await seen()).toEqual([404, 'nothing'])
    await set('active')
    expect(await seen()).toEqual(['found', 'found'])
  })

  it('cannot be searched as an unknown subject', async () => {
    const base = await otters()
    for (const type of ['tenant', 'agent', 'installation', 'end_user'])
      expect(await base.search('otters', { subject: { type, id: 'x' } })).toMatchObject({
        status: 404,
        body: { error: { param: 'subject.id' } },
      })
  })

  it('is searched as a subject that is named as in a grant', async () => {
    const base = await otters()
    const [acme, globex] = [ids.acme ?? '', ids.globex ?? '']
    await base.grant('tenant', acme)
    const as = (subject_id: string) => ({ subject: { subject_type: 'tenant', subject_id } })
    expect([await sees(base, world.api, as(acme)), await sees(base, world.api, as(globex))]).toEqual([
      'found',
      'nothing',
    ])
    expect(await base.search('otters', as('x'))).toMatchObject({
      status: 404,
      body: { error: { param: 'subject.subject_id' } },
    })
    expect((await base.search('otters', { subject: { subject_type: 'tenant', id: acme } })).status).toBe(422)
  })

  it('is given to the owning tenant and to no other tenant', async () => {
    const base = await otters({ tenant_id: ids.acme })
    expect(await sees(base, await token('acme', 'bob'))).toBe('found')
    expect(await sees(base, await token('globex', 'bob'))).toBe(404)
    expect((await base.grant('tenant', ids.globex ?? '')).status).toBe(404)
    const named = (tenant: string) =>
      base.search('otters').then(() => sees(base, world.api, { subject: subjectOf(tenant, ids) }))
    expect([await named('acme'), await named('globex')]).toEqual(['found', 'nothing'])
  })

  it('is limited to the search for a client token', async () => {
    const base = await otters({ tenant_id: ids.acme })
    const ann = await token('acme', 'ann')
    for (const path of ['', '/sources', '/grants', '/recall-sets'])
      expect((await ann.get(base.path + path)).status).toBe(403)
    expect(await sees(base, ann, { subject: subjectOf('acme', ids) })).toBe(403)
  })

  it('cannot be granted to an unknown subject', async () => {
    const base = await otters()
    for (const [type, id] of [
      ['tenant', 'ten_x'],
      ['agent', 'agt_x'],
      ['installation', 'ins_x'],
      ['end_user', 'usr_x'],
    ])
      expect(await base.grant(type ?? '', id ?? '')).toMatchObject({
        status: 404,
        body: { error: { param: 'subject_id' } },
      })
  })

  it('is separate for the sources, grants and recall sets of each base', async () => {
    const [mine, other] = [await otters(), await otters()]
    const source = (await world.api.get(`${mine.path}/sources`)).body.data[0].id
    const grant = (await mine.grant('tenant', ids.acme ?? '')).body.id
    const questions = [{ question: 'Who holds hands?', text: 'otters' }]
    const set = await created(`${mine.path}/recall-sets`, { name: 'Basics', questions })
    for (const path of [
      `/sources/${source}`,
      `/sources/${source}/text`,
      `/sources/${source}/chunks`,
      `/recall-sets/${set}`,
    ]) {
      expect((await world.api.get(mine.path + path)).status).toBe(200)
      expect((await world.api.get(other.path + path)).status).toBe(404)
    }
    for (const path of [`/sources/${source}`, `/grants/${grant}`, `/recall-sets/${set}`])
      expect((await world.api.get(other.path + path, { method: 'DELETE' })).status).toBe(404)
    for (const path of [`/sources/${source}/sync`, `/recall-sets/${set}/measure`])
      expect((await world.api.post(other.path + path)).status).toBe(404)
    const measured = (await world.api.post(`${mine.path}/recall-sets/${set}/measure`, { k: 3 })).body
    expect(measured).toMatchObject({ k: 3, recall: 1, mrr: 1, questions: [{ rank: 1 }] })
  })
})

const subjectOf = (name: string, ids: Readonly<Record<string, string>>) => {
  const id = ids[name] ?? ''
  const type = { ten: 'tenant', usr: 'end_user', agt: 'agent' }[id.split('_')[0] ?? ''] ?? 'installation'
  return { type, id }
}

const whoOf = async (names: readonly string[], seen: (name: string) => Promise<string | number>) => {
  const found: string[] = []
  for (const name of names) if ((await seen(name)) === 'found') found.push(name)
  return found
}
