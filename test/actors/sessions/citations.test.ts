import { afterEach, expect, it } from 'vitest'
import type { ToolOutcome } from '#actors/capability/agent-resources.ts'
import { newSession, openWorld, type Script, ScriptedProvider, turn, type World } from './harness.ts'

const worlds: World[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const search = (query: string): Script => ({
  text: ['Let me look. '],
  calls: [{ name: 'web_search_preview', arguments: JSON.stringify({ query }) }],
})
const found = (name: string): ToolOutcome => {
  const results = [{ n: 1, title: name, url: `https://${name}.example/`, snippet: `About ${name}.` }]
  return { ok: true, output: JSON.stringify({ untrusted: true, note: 'x', results }) }
}
const open = async (scripts: readonly Script[]) => {
  const model = new ScriptedProvider(scripts)
  const runTool = async ({ arguments: given }: { readonly arguments: unknown }): Promise<ToolOutcome> =>
    found(JSON.parse(JSON.stringify(given)).query)
  const world = await openWorld({ model, runTool })
  worlds.push(world)
  return { world, model, session: await newSession(world) }
}
const completed = async (world: World, session: string, input: string) =>
  (await turn(world, session, { input, tools })).at(-1)?.payload ?? {}
const tools = [{ type: 'web_search_preview' as const }]

it('annotates a turn with the pages that its text cites, numbered across all searches of the session', async () => {
  const { world, model, session } = await open([
    search('harbour'),
    search('tides'),
    { text: ['Ships come ', 'at six [1], with the tide [2].'] },
    search('moon'),
    { text: ['The moon [3].'] },
  ])
  const { output, annotations } = await completed(world, session, 'When?')
  expect(String(output)).toBe('Let me look. Let me look. Ships come at six [1], with the tide [2].')
  const marks = JSON.parse(JSON.stringify(annotations))
  expect(marks).toMatchObject([
    { type: 'url_citation', url: 'https://harbour.example/', title: 'harbour' },
    { type: 'url_citation', url: 'https://tides.example/', title: 'tides' },
  ])
  const cited = (mark: { start_index: number; end_index: number }) =>
    String(output).slice(mark.start_index, mark.end_index)
  expect(marks.map(cited)).toEqual(['[1]', '[2]'])
  const outputs = model.requests[2]?.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
  expect(outputs?.map((content) => JSON.parse(content).results[0].n)).toEqual([1, 2])
  const next = await completed(world, session, 'Why?')
  expect(next).toMatchObject({
    output: 'Let me look. The moon [3].',
    annotations: [{ title: 'moon', start_index: 22 }],
  })
})

it('adds no annotations if the text cites no page, or a number without a page', async () => {
  const { world, session } = await open([search('harbour'), { text: ['At six [7], as in [x].'] }])
  expect(await completed(world, session, 'When?')).not.toHaveProperty('annotations')
})
