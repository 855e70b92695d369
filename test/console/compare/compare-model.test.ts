import { describe, expect, it } from 'vitest'
import { aligned, courseOf, differences, factsOf, markOf, turnsIn } from '../../../console/compare/compare-model.ts'

const startMs = Date.parse('2026-01-01T00:00:00.000Z')

/** A log whose events follow each other by 100 ms. */
const logOf = (...events: readonly (readonly [string, object])[]) =>
  events.map(([event_type, payload], index) => ({
    ...{ sequence: index + 1, event_type, turn_number: 1, payload: { ...payload } },
    created_at: new Date(startMs + index * 100).toISOString(),
  }))

const usage = (total_tokens: number, cost_usd: string) => ({ total_tokens, cost_usd })

const runLog = (order: string, output: string) =>
  logOf(
    ['run.queued', { input: { prompt: 'Refund it' } }],
    ['run.started', {}],
    ['run.model_call.started', { step: 1, model: 'm-1' }],
    ['run.model_call.completed', { step: 1, model: 'm-1', text: '', usage: usage(10, '0.01') }],
    ['run.requires_action', { tool: 'refund', action_id: 'act_1', arguments: { order } }],
    ['run.action.approved', { tool: 'refund', action_id: 'act_1' }],
    ['run.tool_call.started', { tool: 'refund', action_id: 'act_1', arguments: { order } }],
    ['run.tool_call.completed', { tool: 'refund', action_id: 'act_1', output }],
    ['run.model_call.started', { step: 2, model: 'm-1' }],
    ['run.model_call.completed', { step: 2, model: 'm-1', text: 'Done.', usage: usage(20, '0.02') }],
    ['run.completed', { output: { text: 'Done.' }, usage: usage(30, '0.03') }],
  )

describe('the course of a run', () => {
  it('has its input, model calls and tool calls with arguments, output, decision and time', () => {
    const { parts, answer, models, sums } = courseOf(runLog('7', 'paid'))
    expect(parts.map(({ kind, name, output, ms }) => [kind, name, output, ms])).toEqual([
      ['input', '', 'Refund it', null],
      ['model', 'm-1', '', 100],
      ['tool', 'refund', 'paid', 300],
      ['model', 'm-1', 'Done.', 100],
    ])
    expect(parts[2]).toMatchObject({ given: '{\n  "order": "7"\n}', failed: false })
    expect({ answer, models }).toEqual({ answer: 'Done.', models: 'm-1' })
    expect(sums).toMatchObject({ cost: 0.03, tokens: 30, tools: 1, errors: 0, ms: 1000 })
  })

  it('has the failure of a tool and of the whole', () => {
    const failure = '{"error":{"code":"tool_failed","message":"500"}}'
    expect(courseOf(runLog('7', failure)).parts[2]).toMatchObject({ failed: true })
    const { answer } = courseOf(logOf(['turn.failed', { error: { code: 'provider_error', message: 'gone' } }]))
    expect(answer).toBe('provider_error: gone')
  })
})

describe('the course of a turn', () => {
  const turn = logOf(
    ['turn.started', { turn_number: 3, model: 'm-2', input_text: 'Refund it' }],
    ['output_text.delta', { delta: 'I lo' }],
    ['turn.restarted', {}],
    ['output_text.delta', { delta: 'I pay ' }],
    ['output_text.delta', { delta: 'now.' }],
    ['turn.paused', { tool: 'refund', action_id: 'act_1', arguments: { order: '7' } }],
    ['turn.resumed', { action_id: 'act_1', resolution: 'approved', output: 'paid', arguments: { order: '8' } }],
    ['output_text.delta', { delta: 'Done.' }],
    ['turn.completed', { turn_number: 3, output: 'Done.', usage: usage(5, '0.5') }],
  )

  it('has the texts between calls, and the decision with edited arguments and the output of the caller', () => {
    const { parts, models } = courseOf(turn)
    expect(parts.map(({ kind, output }) => [kind, output])).toEqual([
      ['input', 'Refund it'],
      ['model', 'I pay now.'],
      ['tool', 'paid'],
      ['model', 'Done.'],
    ])
    expect(parts[2]).toMatchObject({ given: '{\n  "order": "8"\n}', decision: 'approved', ms: 100 })
    expect(models).toBe('m-2')
  })

  it('is found by its number and input', () => {
    expect(turnsIn(turn)).toEqual([{ turn: 3, text: 'Refund it' }])
  })

  it('of images alone is named by their number', () => {
    const image = { type: 'input_image', image_id: 'img_a' }
    const begun = logOf(['turn.started', { turn_number: 1, input_text: '', input: [image, image], model: 'm' }])
    expect(turnsIn(begun)).toEqual([{ turn: 1, text: '2 images' }])
    expect(courseOf(begun).parts.map(({ output }) => output)).toEqual(['2 images'])
  })

  it('of the same text differs by its images: by their kind and size, and by their bytes where those are the same', () => {
    const begun = (image: object) =>
      courseOf(
        logOf(['turn.started', { turn_number: 1, input_text: 'What is this?', input: [image], model: 'm' }]),
        new Map([
          ['img_a', markOf(Uint8Array.of(1, 2))],
          ['img_b', markOf(Uint8Array.of(1, 3))],
          ['img_c', markOf(Uint8Array.of(1, 2))],
        ]),
      ).parts[0]
    const image = (image_id: string, bytes = 2) => ({ type: 'input_image', image_id, mime_type: 'image/png', bytes })
    const found = (one: object, other: object) => differences(begun(one) ?? null, begun(other) ?? null)
    expect(found(image('img_a'), image('img_b'))).toEqual(['images'])
    expect(found(image('img_a'), image('img_d', 3))).toEqual(['images'])
    expect(found(image('img_a'), image('img_c'))).toEqual([])
  })
})

describe('two courses side by side', () => {
  const part = (kind: 'model' | 'tool', name: string, output = '') => ({
    ...{ kind, name, output, given: '', images: '', decision: '', failed: false, ms: 1 },
  })
  const namesOf = (rows: ReturnType<typeof aligned>) => rows.map(([a, b]) => [a?.name ?? null, b?.name ?? null])

  it('have the same calls beside each other, and a call in the place of another beside it', () => {
    const a = [part('model', 'm'), part('tool', 'search'), part('tool', 'fetch'), part('model', 'm')]
    const b = [part('model', 'n'), part('tool', 'crawl'), part('model', 'n'), part('tool', 'fetch'), part('model', 'n')]
    expect(namesOf(aligned(a, b))).toEqual([
      ['m', 'n'],
      ['search', 'crawl'],
      [null, 'n'],
      ['fetch', 'fetch'],
      ['m', 'n'],
    ])
    expect(namesOf(aligned([], b.slice(0, 1)))).toEqual([[null, 'n']])
    expect(aligned([], [])).toEqual([])
  })

  it('differ in what is named: tool, arguments, output, outcome, decision', () => {
    const call = part('tool', 'search', 'found')
    expect(differences(call, { ...call, ms: 900 })).toEqual([])
    expect(
      differences(call, { ...call, name: 'crawl', given: '{}', output: '', failed: true, decision: 'approved' }),
    ).toEqual([...['tool', 'arguments', 'output', 'outcome', 'decision']])
    expect(differences(call, null)).toEqual(['only in A'])
    expect(differences(null, call)).toEqual(['only in B'])
  })

  it('have their change of cost, tokens, calls, errors and time, of which more than a tenth stands out', () => {
    const [a, b] = [courseOf(runLog('7', 'paid')), courseOf(runLog('7', 'paid').slice(0, 8))]
    const facts = Object.fromEntries(factsOf(a, b).map(({ name, change, tone }) => [name, [change, tone]]))
    expect(facts).toEqual({
      Model: ['', ''],
      Cost: ['−$0.0200 (−67 %)', 'calm'],
      Tokens: ['−20 (−67 %)', 'calm'],
      'Tool calls': ['', ''],
      Errors: ['', ''],
      Took: ['−300 ms (−30 %)', 'calm'],
    })
    expect(factsOf(b, a).find(({ name }) => name === 'Cost')).toMatchObject({ tone: 'bad' })
  })
})
