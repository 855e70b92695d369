import { afterAll, beforeAll, expect, it } from 'vitest'
import { zipOf } from '#test/support/archives.ts'
import { KnowledgeBase } from '../knowledge/knowledge-world.ts'
import { World } from '../world.ts'

let world: World
beforeAll(async () => {
  world = await World.start({ env: { NODE_OPTIONS: '--max-old-space-size=512', EMBEDDER: 'none' } })
}, 120_000)
afterAll(() => world.stop())

it('many simultaneous requests for a long text of a vector store leave the process memory for others', async () => {
  const base = await KnowledgeBase.create(world.api)
  const line = 'Товары можно вернуть в течение тридцати дней. '
  const { id } = await base.upload('long.txt', line.repeat(240_000))
  const path = `/v1/vector_stores/${base.id.replace('kb_', 'vs_')}/files/${id.replace('src_', 'file_')}/content`
  const length = async (): Promise<number> => (await (await world.api.fetch(path)).arrayBuffer()).byteLength
  const whole = await length()
  expect(whole).toBeGreaterThan(19_000_000)
  const read = async (): Promise<string> => {
    const answer = await world.api.fetch(path)
    const { byteLength } = await answer.arrayBuffer()
    return answer.status === 503 ? 'overloaded' : `${answer.status} ${byteLength === whole}`
  }
  const seen = new Set(await Promise.all(Array.from({ length: 60 }, read)))
  seen.delete('overloaded')
  expect([...seen]).toEqual(['200 true'])
  expect((await base.search('Товары')).status).toBe(200)
}, 180_000)

it('so do requests for a long file of a skill', async () => {
  const notes = { path: 'notes.md', content: 'Ein langer Text über Otter. '.repeat(700_000) }
  const skill = { path: 'SKILL.md', content: '---\nname: long\ndescription: Is long.\n---\n# Long\n' }
  const archive = zipOf([skill, notes]).toString('base64')
  const staged = await world.api.post('/v1/skill-imports', JSON.stringify({ archive }))
  expect(staged.status, JSON.stringify(staged.body).slice(0, 300)).toBe(201)
  const dashboard = await world.dashboard()
  const codes = staged.body.findings.filter(({ severity }: { severity: string }) => severity === 'blocker')
  const override = codes.map(({ code }: { code: string }) => ({ code, reason: 'It is long.' }))
  const done = await dashboard.post(`/v1/skill-imports/${staged.body.id}/publish`, { override })
  expect(done.status, JSON.stringify(done.body).slice(0, 300)).toBe(200)
  const path = `/v1/skills/${done.body.skill_id}/versions/${done.body.version}/files/notes.md`
  const read = async (): Promise<number> => {
    const answer = await world.api.fetch(path)
    await answer.arrayBuffer()
    return answer.status
  }
  const seen = new Set(await Promise.all(Array.from({ length: 60 }, read)))
  seen.delete(503)
  expect([...seen]).toEqual([200])
}, 180_000)
