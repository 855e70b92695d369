import { expect, it } from 'vitest'
import { openRuns, runOf, startRun, untilEnd, withTools } from './run-world.ts'

const results = (url: string) =>
  JSON.stringify({ untrusted: true, note: 'x', results: [{ n: 1, title: 'Harbour', url, snippet: 'At six.' }] })
const ran = async (said: string, url = 'https://harbour.example/') => {
  const calls = [{ name: 'web_search_preview', arguments: '{"query":"harbour"}' }]
  const scripts = [{ text: ['Let me look. '], calls }, { text: [said] }]
  const runTool = async () => ({ ok: true as const, output: results(url) })
  const world = await openRuns({ agt_1: withTools({ type: 'web_search_preview' }) }, { scripts, runTool })
  const run = await startRun(world, 'agt_1')
  const [last] = (await untilEnd(world, run)).slice(-1)
  return { last, run: await runOf(world, run) }
}

it('annotates the output with the pages that the last answer cites, at their positions in it', async () => {
  const { last, run } = await ran('Ships come at six [1].')
  const annotations = [
    { type: 'url_citation', start_index: 18, end_index: 21, url: 'https://harbour.example/', title: 'Harbour' },
  ]
  expect(run.output).toEqual({ text: 'Ships come at six [1].', annotations })
  expect(last).toMatchObject({ event_type: 'run.completed', payload: { output: run.output } })
})

it.each([
  ['cites no page', 'At six.', 'https://harbour.example/'],
  ['cites a number without a page', 'At six [4].', 'https://harbour.example/'],
  ['cites a source without an http address', 'At six [1].', 'javascript:alert(1)'],
])('adds no annotations if the answer %s', async (_what, said, url) => {
  expect((await ran(said, url)).run.output).toEqual({ text: said })
})
