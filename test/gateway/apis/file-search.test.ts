import { describe, expect, it } from 'vitest'
import type { KnowledgeFound, KnowledgeQuery, KnowledgeService } from '#actors/capability/knowledge-service.ts'
import { objectOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { responsesWorld } from './responses-world.ts'
import { calling, type Script, saying } from './scripted-chat.ts'

const found = (source: string, content: string, more: object = {}): KnowledgeFound => ({
  ...{
    chunk_id: `kch_${source}`,
    source_id: source,
    file_id: source.replace('ksr', 'file'),
    content,
    score: 0.9,
    metadata: { lang: 'en' },
  },
  citation: { title: 'Rules', start: 10, end: 10 + content.length, filename: 'rules.pdf', page: 2, ...more },
})

/** Knowledge with the given bases, and a record of the searches in them. */
const knowledgeOf = (bases: Readonly<Record<string, readonly KnowledgeFound[] | Error>>) => {
  const searched: { readonly bases: readonly string[]; readonly query: KnowledgeQuery }[] = []
  const service: KnowledgeService = {
    open: async (_, ids, param) => {
      const at = ids.findIndex((id) => bases[id] === undefined)
      if (at >= 0) throw new ServiceError('not_found', { param: `${param}[${at}]` })
      return {
        search: async (query) => {
          searched.push({ bases: ids, query })
          return ids.flatMap((id) => {
            const held = bases[id] ?? []
            if (held instanceof Error) throw held
            return held
          })
        },
      }
    },
  }
  return { service, searched }
}

const looking = (id: string, query: string, index = 0) => calling(index, id, 'file_search', JSON.stringify({ query }))
const search: Script = { deltas: looking('call_1', 'returns'), finishReason: 'tool_calls' }
const tool = { type: 'file_search' as const, vector_store_ids: ['kb_rules'] }
const body = { model: 'model-1', input: 'May I return it?', tools: [tool] }

describe('file_search of a response', () => {
  it('searches knowledge bases, streams events of the call, and cites the files that the answer names', async () => {
    const { service, searched } = knowledgeOf({ kb_rules: [found('ksr_1', 'Within 30 days.')] })
    const { chat, openai } = await responsesWorld([search, { deltas: saying('Within 30 days [1', ']. Not [2].') }], {
      knowledge: service,
    })
    const types: string[] = []
    const stream = openai.responses.stream({ ...body, include: ['file_search_call.results'] })
    for await (const { type } of stream) types.push(type)
    const response = await stream.finalResponse()
    expect(types.filter((type) => /file_search|annotation/.test(type))).toEqual([
      'response.file_search_call.in_progress',
      'response.file_search_call.searching',
      'response.file_search_call.completed',
      'response.output_text.annotation.added',
    ])
    const place = { chunk_id: 'kch_ksr_1', start: 10, end: 25, page: 2 }
    expect(response.output).toMatchObject([
      {
        type: 'file_search_call',
        id: expect.stringMatching(/^fs_/),
        status: 'completed',
        queries: ['returns'],
        results: [
          { file_id: 'ksr_1', filename: 'rules.pdf', score: 0.9, text: 'Within 30 days.', attributes: { lang: 'en' } },
        ],
      },
      {
        content: [
          {
            annotations: [{ type: 'file_citation', index: 15, file_id: 'ksr_1', filename: 'rules.pdf', ...place }],
          },
        ],
      },
    ])
    expect(searched).toMatchObject([{ bases: ['kb_rules'], query: { query: 'returns', limit: 10, threshold: 0 } }])
    expect(chat.received[0]?.body).toMatchObject({ tools: [{ function: { name: 'file_search' } }] })
    expect(chat.received[1]?.body.messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'call_1', function: { name: 'file_search' } }] },
      { role: 'tool', tool_call_id: 'call_1', content: expect.stringContaining('Within 30 days.') },
    ])
  })

  it('shows metadata as attributes that are strings, numbers or booleans, as OpenAI does', async () => {
    const metadata = { lang: 'en', pages: 3, draft: false, tags: ['a', 'b'], by: { name: 'Ada' }, until: null }
    const { service } = knowledgeOf({ kb_rules: [{ ...found('ksr_1', 'Within 30 days.'), metadata }] })
    const { openai } = await responsesWorld([search, { deltas: saying('Yes.') }], { knowledge: service })
    const { output } = await openai.responses.create({ ...body, include: ['file_search_call.results'] })
    const attributes = { lang: 'en', pages: 3, draft: false, tags: '["a","b"]', by: '{"name":"Ada"}' }
    expect(output).toMatchObject([{ results: [{ attributes }] }, {}])
    expect(output[0]).not.toHaveProperty('results.0.attributes.until')
  })

  it('hides results unless included, passes limits and thresholds, and numbers results across calls', async () => {
    const { service, searched } = knowledgeOf({
      kb_rules: [found('ksr_1', 'Within 30 days.')],
      kb_more: [found('ksr_2', 'With a receipt.', { filename: undefined })],
    })
    const twice: Script = {
      deltas: [...looking('call_1', 'days'), ...looking('call_2', 'receipt', 1)],
      finishReason: 'tool_calls',
    }
    const { openai } = await responsesWorld([twice, { deltas: saying('Yes [4].') }], { knowledge: service })
    const options = { max_num_results: 3, ranking_options: { score_threshold: 0.4 } }
    const tools = [{ ...tool, vector_store_ids: ['kb_rules', 'kb_more', 'kb_rules'], ...options }]
    const { output } = await openai.responses.create({ ...body, tools })
    expect(output).toMatchObject([
      { type: 'file_search_call', results: null },
      { type: 'file_search_call', results: null },
      { content: [{ annotations: [{ type: 'file_citation', file_id: 'ksr_2', filename: 'Rules' }] }] },
    ])
    expect(searched).toMatchObject([
      { bases: ['kb_rules', 'kb_more'], query: { query: 'days', limit: 3, threshold: 0.4 } },
      { query: { query: 'receipt' } },
    ])
  })

  it('reports a failed search to the model, which continues', async () => {
    const { service } = knowledgeOf({ kb_rules: new Error('the store is away') })
    const { chat, openai } = await responsesWorld([search, { deltas: saying('I could not look.') }], {
      knowledge: service,
    })
    const { output, output_text } = await openai.responses.create(body)
    expect(output[0]).toMatchObject({ type: 'file_search_call', status: 'failed', results: null })
    expect(output_text).toBe('I could not look.')
    expect(JSON.stringify(chat.last.messages)).toContain('The search failed.')
  })

  it('filters results by metadata', async () => {
    const { service, searched } = knowledgeOf({ kb_rules: [] })
    const { openai } = await responsesWorld([search, { deltas: saying('Nothing.') }], { knowledge: service })
    await openai.responses.create({ ...body, tools: [{ ...tool, filters: { type: 'eq', key: 'lang', value: 'de' } }] })
    expect(searched[0]?.query.filter).toEqual({ type: 'eq', key: 'lang', value: 'de' })
  })

  it('is forced by its type for the first model call only', async () => {
    const { service } = knowledgeOf({ kb_rules: [] })
    const { chat, openai } = await responsesWorld([search, { deltas: saying('Nothing.') }], { knowledge: service })
    await openai.responses.create({ ...body, tool_choice: { type: 'file_search' } })
    const choices = chat.received.map(({ body: sent }) => sent.tool_choice)
    expect(choices).toEqual([{ type: 'function', function: { name: 'file_search' } }, undefined])
  })

  const comparison = { type: 'eq', key: 'lang', value: 'de' }
  it.each([
    ['a base that does not exist', { vector_store_ids: ['kb_rules', 'kb_x'] }, 404, 'tools[0].vector_store_ids[1]'],
    [
      'stores of OpenAI together with bases',
      { vector_store_ids: ['kb_rules', 'vs_1'] },
      400,
      'tools[0].vector_store_ids',
    ],
    ['a vector store of OpenAI', { vector_store_ids: ['vs_1'] }, 404, 'tools[0].vector_store_ids[0]'],
    ['an id of nothing', { vector_store_ids: ['rules'] }, 404, 'tools[0].vector_store_ids[0]'],
    ['too many bases', { vector_store_ids: Array(17).fill('kb_rules') }, 400, 'tools[0].vector_store_ids'],
    ['a number of results that is not an integer', { max_num_results: 1.5 }, 400, 'tools[0].max_num_results'],
    ['too many results', { max_num_results: 51 }, 400, 'tools[0].max_num_results'],
    ['ranking options that are not an object', { ranking_options: 'best' }, 400, 'tools[0].ranking_options'],
    [
      'a threshold over 1',
      { ranking_options: { score_threshold: 2 } },
      400,
      'tools[0].ranking_options.score_threshold',
    ],
    ['filters that are not an object', { filters: 'lang' }, 400, 'tools[0].filters'],
    ['an unknown comparison', { filters: { ...comparison, type: 'like' } }, 400, 'tools[0].filters.type'],
    ['a comparison without a key', { filters: { type: 'eq', value: 1 } }, 400, 'tools[0].filters.key'],
    ['a comparison with an object', { filters: { ...comparison, value: {} } }, 400, 'tools[0].filters.value'],
    ['an "in" comparison without a list', { filters: { ...comparison, type: 'in' } }, 400, 'tools[0].filters.value'],
    ['a compound without filters', { filters: { type: 'and' } }, 400, 'tools[0].filters.filters'],
    [
      'a compound with an invalid filter',
      { filters: { type: 'or', filters: [comparison, { type: 'eq' }] } },
      400,
      'tools[0].filters.filters[1].key',
    ],
  ])('refuses %s', async (_, more, status, param) => {
    const { service } = knowledgeOf({ kb_rules: [] })
    const { chat, send } = await responsesWorld([search], { knowledge: service })
    const { status: answered, json } = await send('/v1/responses', { ...body, tools: [{ ...tool, ...more }] })
    expect({ status: answered, param: objectOf(objectOf(json).error).param }).toEqual({ status, param })
    expect(chat.received).toEqual([])
  })

  it('refuses a second search, a function of its name, and the choice of a missing search', async () => {
    const { service } = knowledgeOf({ kb_rules: [] })
    const { send } = await responsesWorld([search], { knowledge: service })
    const refused = async (more: object) => {
      const { status, json } = await send('/v1/responses', { ...body, ...more })
      return [status, objectOf(objectOf(json).error).param]
    }
    expect(await refused({ tools: [tool, tool] })).toEqual([400, 'tools[1].type'])
    expect(await refused({ tools: [tool, { type: 'function', name: 'file_search' }] })).toEqual([400, 'tools'])
    expect(await refused({ tools: [], tool_choice: { type: 'file_search' } })).toEqual([400, 'tool_choice'])
    const hosted = { type: 'file_search', vector_store_ids: ['vs_1'] }
    expect(await refused({ tools: [hosted], tool_choice: { type: 'file_search' } })).toEqual([
      404,
      'tools[0].vector_store_ids[0]',
    ])
  })
})
