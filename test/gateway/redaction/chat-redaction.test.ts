import { describe, expect, it } from 'vitest'
import { type RedactedChat, redactChat as redactAny } from '#gateway/redaction/chat-redaction.ts'
import type { ChatRestorer } from '#gateway/redaction/chat-restorer.ts'
import { maxOnLoop } from '#gateway/redaction/redacted.ts'
import { type PolicyChoice, policyBy } from '#gateway/redaction/redaction-policy.ts'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { defaultTypes } from '#specs/resources/gateway/redaction.ts'
import { atOnce } from '#src/concurrency/run-in-slices.ts'

const ada = 'ada@example.com'
const phone = '+1 415 555 2671'

const policy = (choice: Partial<PolicyChoice> = {}) =>
  policyBy({ types: defaultTypes, input: true, toolArguments: true, restore: true, region: 'US', ...choice })

const picture = `data:image/png;base64,${'iVBORw0KGgo+14155552671'.repeat(20)}`

const body = {
  model: 'gpt-4o-mini',
  temperature: 0.5,
  user: ada,
  metadata: { owner: ada, kind: 'x' },
  tools: [{ type: 'function', function: { name: 'mail', description: `sends as ${phone}`, parameters: {} } }],
  messages: [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: `I am ${ada}` },
        { type: 'image_url', image_url: { url: picture } },
      ],
    },
    {
      role: 'assistant',
      content: null,
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'mail', arguments: `{"to":"${ada}","tel":"${phone}"}` } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: `sent to ${ada}` },
  ],
}

/** Redacts a short body, which needs no waiting. */
const redactChat = (...requested: Parameters<typeof redactAny>): RedactedChat => {
  const redacted = redactAny(...requested)
  if (redacted instanceof Promise) throw new Error('it was redacted elsewhere')
  return redacted
}

const restorerOf = (): ChatRestorer => {
  const { restorer } = redactChat(body, policy())
  if (restorer === null) throw new Error('nothing was replaced')
  return restorer
}

const chunk = (delta: WireObject, finish: string | null = null, index = 0): WireObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  model: 'm',
  choices: [{ index, delta, finish_reason: finish }],
})

const deltaOf = (document: WireObject | null): WireObject => objectOf(objectOf(arrayOf(document?.choices)[0]).delta)

describe('a chat body', () => {
  it('is sent without personal data in texts, parts, results and arguments, and is otherwise unchanged', () => {
    const redacted = redactChat(body, policy()).body
    expect(redacted).toEqual({
      ...body,
      user: '[EMAIL_1]',
      metadata: { owner: '[EMAIL_1]', kind: 'x' },
      messages: [
        body.messages[0],
        {
          role: 'user',
          content: [
            { type: 'text', text: 'I am [EMAIL_1]' },
            { type: 'image_url', image_url: { url: picture } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'mail', arguments: '{"to":"[EMAIL_1]","tel":"[PHONE_1]"}' },
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'sent to [EMAIL_1]' },
      ],
    })
    expect(JSON.stringify(body), 'the caller’s own body is untouched').toContain(ada)
  })

  it.each([
    ['input', { type: 'server_tool_use', id: 'srv_1', name: 'run', input: { code: ['x', ada] } }],
    [
      'output',
      { type: 'code_execution_tool_result', tool_use_id: 'srv_1', content: { type: 'r', stdout: `by ${ada}` } },
    ],
    [
      'input that looks like ids',
      { type: 'mcp_tool_use', id: 'x', name: 'y', input: { id: ada, user_id: ada, url: ada } },
    ],
    ['text', { type: 'mcp_tool_result', tool_use_id: 'srv_1', content: [{ type: 'text', text: ada }] }],
  ])(
    "is sent without personal data in the %s of Anthropic's own tools, which a caller may have written",
    (_, block) => {
      const user = { role: 'user', content: [{ type: 'text', text: '', anthropic_block: block }] }
      const chat = { messages: [{ role: 'assistant', content: '', thinking_blocks: [block] }, user] }
      const sent = JSON.stringify(redactChat(chat, policy()).body)
      expect(sent).toBe(JSON.stringify(chat).replaceAll(ada, '[EMAIL_1]'))
    },
  )

  it('is sent without personal data in each field that names the user', () => {
    const chat = { messages: [], user: ada, safety_identifier: ada, prompt_cache_key: `of ${ada}` }
    const sent = { user: '[EMAIL_1]', safety_identifier: '[EMAIL_1]', prompt_cache_key: 'of [EMAIL_1]' }
    expect(redactChat(chat, policy()).body).toEqual({ messages: [], ...sent })
  })

  it('is sent without personal data in what answers gave back: thoughts, transcripts, titles, and in names', () => {
    const said = (text: string) => ({
      ...{ role: 'assistant', name: text, content: 'x', reasoning: `of ${text}`, audio: { id: 'a', transcript: text } },
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://x.example/', title: text, start_index: 0 } }],
    })
    expect(redactChat({ messages: [said(ada)] }, policy()).body).toEqual({ messages: [said('[EMAIL_1]')] })
  })

  it('keeps files that Anthropic fetched', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: '+14155552671' }
    const content = { type: 'web_fetch_result', url: 'https://x.example/', content: { type: 'document', source } }
    const block = { type: 'web_fetch_tool_result', tool_use_id: 'srv_1', content }
    const chat = { messages: [{ role: 'assistant', content: '', thinking_blocks: [block] }] }
    expect(redactChat(chat, policy()).body).toBe(chat)
  })

  it('keeps what Anthropic encrypted', () => {
    const content = [{ type: 'web_search_result', url: `https://x.example/${ada}`, encrypted_content: ada }]
    const block = { type: 'web_search_tool_result', tool_use_id: 'srv_1', content }
    const chat = { messages: [{ role: 'assistant', content: '', thinking_blocks: [block] }] }
    expect(redactChat(chat, policy()).body).toBe(chat)
  })

  it('is the same object when it has no personal data', () => {
    const clean = { model: 'm', messages: [{ role: 'user', content: 'Hello' }], seed: 4242424242424242 }
    const redacted = redactChat(clean, policy())
    expect(redacted.body).toBe(clean)
    expect(redacted.restorer).toBeNull()
  })

  it('keeps tool arguments or texts that the policy excludes', () => {
    const texts = JSON.stringify(redactChat(body, policy({ toolArguments: false })).body)
    expect(texts).toContain(JSON.stringify(`{"to":"${ada}","tel":"${phone}"}`))
    expect(texts).toContain('I am [EMAIL_1]')
    const calls = JSON.stringify(redactChat(body, policy({ input: false })).body)
    expect(calls).toContain(`I am ${ada}`)
    expect(calls).toContain('[PHONE_1]')
  })

  it('keeps unknown content unchanged, and answers of unknown shape cause no error', () => {
    const odd = {
      messages: ['text', null, 7, { content: 7 }, { tool_calls: 'x' }, { content: [null, `${ada}`] }],
      user: 7,
    }
    expect(redactChat(odd, policy()).body).toEqual({
      ...odd,
      messages: [...odd.messages.slice(0, 5), { content: [null, '[EMAIL_1]'] }],
    })
    for (const document of [{}, { choices: 'x' }, { choices: [null, {}, { message: 7 }] }]) {
      expect(() => atOnce(restorerOf().completion(document))).not.toThrow()
      expect(() => restorerOf().chunk(document)).not.toThrow()
    }
  })
})

describe('a long chat body', () => {
  const long = {
    messages: [{ role: 'user', content: `${'Write to ada@example.com or call +1 415 555 2671. '.repeat(10_000)}` }],
  }

  it('is read in a worker: the loop goes on meanwhile, and the result is the same', async () => {
    let turns = 0
    const counting = setInterval(() => {
      turns += 1
    }, 1)
    const { body: sent, restorer } = await redactAny(long, policy())
    clearInterval(counting)
    expect(JSON.stringify(sent)).toBe(
      JSON.stringify(long).replaceAll('ada@example.com', '[EMAIL_1]').replaceAll('+1 415 555 2671', '[PHONE_1]'),
    )
    expect(restorer).not.toBeNull()
    expect(JSON.stringify(long).length).toBeGreaterThan(maxOnLoop)
    expect(turns, 'none when the loop is held').toBeGreaterThan(3)
  })
})

describe('a redacted answer', () => {
  it('has its texts and tool arguments restored without streaming', () => {
    const completion = {
      id: 'x',
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Dear [email_1]',
            reasoning_content: 'it is [EMAIL_1]',
            tool_calls: [
              { id: 'c', type: 'function', function: { name: 'mail', arguments: '{"to":"\\u005bEMAIL_1]"}' } },
            ],
          },
        },
      ],
      usage: { total_tokens: 3 },
    }
    expect(atOnce(restorerOf().completion(completion))).toEqual({
      ...completion,
      choices: [
        {
          index: 0,
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: `Dear ${ada}`,
            reasoning_content: `it is ${ada}`,
            tool_calls: [{ id: 'c', type: 'function', function: { name: 'mail', arguments: `{"to":"${ada}"}` } }],
          },
        },
      ],
    })
  })

  it('has placeholders restored that are split over chunks, also in interleaved calls', () => {
    const restorer = restorerOf()
    const call = (index: number, part: string) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })
    const sent = [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'Dear [EMA' }),
      chunk({ content: 'IL_1], hello [' }),
      call(0, '{"to":"[EMAIL'),
      call(1, '{"tel":"[PHO'),
      call(0, '_1]"}'),
      call(1, 'NE_1]"}'),
      chunk({}, 'tool_calls'),
    ].map((each) => deltaOf(restorer.chunk(each)))
    expect(sent.map(({ content }) => textOf(content)).join('')).toBe(`Dear ${ada}, hello [`)
    const calls = sent.flatMap(({ tool_calls }) => arrayOf(tool_calls).map(objectOf))
    const argumentsOf = (at: number) =>
      calls
        .filter(({ index }) => index === at)
        .map((each) => textOf(objectOf(each.function).arguments))
        .join('')
    expect([argumentsOf(0), argumentsOf(1)]).toEqual([`{"to":"${ada}"}`, `{"tel":"${phone}"}`])
    expect(restorer.end()).toBeNull()
  })

  it('has withheld text in a last chunk when it ends without a finish reason', () => {
    const restorer = restorerOf()
    expect(deltaOf(restorer.chunk(chunk({ content: 'see [EMAIL' })))).toEqual({ content: 'see ' })
    expect(restorer.end()).toEqual(chunk({ content: '[EMAIL' }))
  })

  it('has each choice restored separately', () => {
    const restorer = restorerOf()
    const parts = [
      chunk({ content: '[EMAIL' }),
      chunk({ content: '[PHONE' }, null, 1),
      chunk({ content: '_1]' }),
      chunk({ content: '_1]' }, null, 1),
    ]
    expect(parts.map((each) => deltaOf(restorer.chunk(each)).content)).toEqual(['', '', ada, phone])
  })

  it('has the input of custom tools restored, in one piece and split over chunks', () => {
    const custom = (input: string) => [{ index: 0, id: 'c', type: 'custom', custom: { name: 'mail', input } }]
    const whole = atOnce(restorerOf().completion({ choices: [{ message: { tool_calls: custom('to [EMAIL_1]') } }] }))
    expect(whole).toEqual({ choices: [{ message: { tool_calls: custom(`to ${ada}`) } }] })
    const restorer = restorerOf()
    const parts = [
      chunk({ tool_calls: custom('to [EMA') }),
      chunk({ tool_calls: custom('IL_1] [') }),
      chunk({}, 'stop'),
    ]
    const inputs = parts
      .flatMap((each) => arrayOf(deltaOf(restorer.chunk(each)).tool_calls))
      .map((each) => textOf(objectOf(objectOf(each).custom).input))
    expect(inputs.join('')).toBe(`to ${ada} [`)
  })

  it('has the arguments of a function call and the transcript of speech restored, in one piece and split over chunks', () => {
    const said = (text: string) => ({
      ...{
        function_call: { name: 'mail', arguments: `{"to":"${text}"}` },
        audio: { id: 'a', transcript: `to ${text}` },
      },
    })
    const whole = restorerOf().restoring({ choices: [{ message: said('[EMAIL_1]') }] })
    expect(whole === null ? null : atOnce(whole)).toEqual({ choices: [{ message: said(ada) }] })
    const [restorer, written] = [restorerOf(), said('[EMAIL_1]')]
    const parts = [
      chunk({ function_call: { name: 'mail', arguments: written.function_call.arguments.slice(0, 12) } }),
      chunk({ function_call: { arguments: written.function_call.arguments.slice(12, -1) } }),
      chunk({ audio: { id: 'a', transcript: written.audio.transcript.slice(0, 7) } }),
      chunk({ audio: { transcript: written.audio.transcript.slice(7, -1) } }),
      chunk({}, 'stop'),
    ].map((each) => deltaOf(restorer.chunk(each)))
    const joined = (of: (delta: WireObject) => unknown) => parts.map((delta) => textOf(of(delta))).join('')
    expect(joined((delta) => objectOf(delta.function_call).arguments)).toBe(`{"to":"${ada}"`)
    // the rest of a placeholder that never ended is given as it was written
    expect(joined((delta) => objectOf(delta.audio).transcript)).toBe('to [EMAIL_1')
  })

  it('passes on chunks without text, such as the usage', () => {
    const usage = { id: 'x', choices: [], usage: { total_tokens: 3 } }
    expect(restorerOf().chunk(usage)).toBe(usage)
  })
})

it.each(['whole', 'streamed'])("an answer has personal data in the blocks of Anthropic's own tools (%s)", (form) => {
  const use = { type: 'server_tool_use', id: 'srv_1', name: 'web_search', input: { query: 'bees of [EMAIL_1]' } }
  const thought = { type: 'thinking', thinking: '[EMAIL_1]', signature: 'sig' }
  const message = { role: 'assistant', content: '', thinking_blocks: [thought, use] }
  const restorer = restorerOf()
  const whole = restorer.restoring({ choices: [{ index: 0, message }] })
  const answer = form === 'whole' ? whole && atOnce(whole) : restorer.chunk(chunk(message))
  const choice = objectOf(arrayOf(answer?.choices)[0])
  const restored = { ...use, input: { query: `bees of ${ada}` } }
  expect(objectOf(choice.message ?? choice.delta).thinking_blocks).toEqual([thought, restored])
})
