import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { speechOf } from '#gateway/simulated/speech.ts'
import { patience } from '#test/e2e/patience.ts'
import { PageWorld } from '#test/e2e/protocols/page.ts'
import { RealtimeConnection, userSays } from '#test/gateway/realtime/realtime-socket.ts'

const model = 'simulated-1'
const textConfig = { type: 'realtime', output_modalities: ['text'] }
const textOnly = { type: 'session.update', session: textConfig }
const respond = { type: 'response.create' }

/** Speech of the simulated model, then a second of silence. */
const spoken = (text: string): Buffer => {
  const { audio } = speechOf(text, 'pcm', 1) ?? { audio: Buffer.alloc(0) }
  return Buffer.concat([audio, Buffer.alloc(48_000)])
}

const sendAudio = (client: RealtimeConnection, audio: Buffer): void => {
  for (let at = 0; at < audio.length; at += 9_600)
    client.send({ type: 'input_audio_buffer.append', audio: audio.subarray(at, at + 9_600).toString('base64') })
}

describe('a realtime session that the server runs itself', () => {
  let page: PageWorld
  const open: RealtimeConnection[] = []
  beforeAll(async () => {
    page = await PageWorld.start()
  })
  afterAll(async () => {
    for (const connection of open) connection.close()
    await page.stop()
  })

  const connect = (options: { readonly key?: string; readonly query?: string; readonly protocols?: string[] } = {}) => {
    const { query = `model=${model}`, ...given } = options
    const key = given.protocols === undefined ? { key: page.world.secretKey } : {}
    const connection = new RealtimeConnection(`${page.world.url}/v1/realtime?${query}`, { ...key, ...given })
    open.push(connection)
    return connection
  }

  describe('over a text model', () => {
    it('answers text with text, in the events of the protocol, and is metered', async () => {
      const client = connect()
      await client.exchange(textOnly, 'session.updated')
      const from = client.events.length
      client.send(userSays('reply exactly: Hello.'))
      const { response } = await client.exchange(respond, 'response.done')
      expect(response).toMatchObject({
        status: 'completed',
        output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello.' }] }],
        usage: { output_tokens: expect.any(Number), cost_usd: expect.any(Number) },
      })
      expect([...new Set(client.types.slice(from))]).toEqual([
        ...['conversation.item.added', 'conversation.item.done', 'response.created', 'response.output_item.added'],
        ...['response.content_part.added', 'response.output_text.delta', 'response.output_text.done'],
        ...['response.content_part.done', 'response.output_item.done', 'response.done'],
      ])
      await vi.waitFor(async () => {
        const { body } = await page.world.api.get('/v1/request-log?operation=realtime.connect')
        expect(body.data).toMatchObject([{ model: 'simulated-1', status: 200 }])
      }, patience)
    })

    it('lets the client run functions, and answers with their outputs', async () => {
      const client = connect()
      const tools = [{ type: 'function', name: 'get_weather', parameters: { type: 'object', properties: {} } }]
      await client.exchange({ ...textOnly, session: { ...textConfig, tools } }, 'session.updated')
      client.send(userSays('Please use get_weather'))
      const { response } = await client.exchange(respond, 'response.done')
      expect(response.output).toMatchObject([{ type: 'function_call', name: 'get_weather', status: 'completed' }])
      const { call_id } = response.output[0]
      const item = { type: 'function_call_output', call_id, output: '{"sky":"clear"}' }
      client.send({ type: 'conversation.item.create', item })
      const answered = await client.exchange(respond, 'response.done')
      expect(JSON.stringify(answered.response.output)).toContain('clear')
    })

    it('hears audio, detects the end of speech, and answers in speech with its text', async () => {
      const client = connect()
      await client.until('session.created')
      sendAudio(client, spoken('hello there'))
      const { response } = await client.until('response.done')
      const [message] = response.output
      expect(response.status).toBe('completed')
      const { transcript } = await client.until('conversation.item.input_audio_transcription.completed')
      expect(message.content[0].transcript).toContain(transcript.slice(0, -1))
      const audio = client.events.filter(({ type }) => type === 'response.output_audio.delta')
      expect(Buffer.concat(audio.map(({ delta }) => Buffer.from(delta, 'base64'))).length).toBeGreaterThan(48_000)
    })

    it('ends its answer when the user speaks, and remembers what was heard of it', async () => {
      const client = connect()
      await client.until('session.created')
      client.send(userSays('reply exactly: One two three. Slow please four five six.'))
      client.send(respond)
      const { item_id } = await client.until('response.output_audio.delta')
      sendAudio(client, spoken('stop'))
      const { response } = await client.until('response.done')
      expect(response).toMatchObject({ status: 'cancelled', status_details: { reason: 'turn_detected' } })
      const cut = { type: 'conversation.item.truncate', item_id, content_index: 0, audio_end_ms: 400 }
      expect(await client.exchange(cut, 'conversation.item.truncated')).toMatchObject({ audio_end_ms: 400 })
      const { item } = await client.exchange(
        { type: 'conversation.item.retrieve', item_id },
        'conversation.item.retrieved',
      )
      expect('One two three. '.startsWith(item.content[0].transcript)).toBe(true)
    })

    it('takes audio without turn detection when the client commits it', async () => {
      const client = connect()
      const audio = { input: { turn_detection: null } }
      await client.exchange({ ...textOnly, session: { ...textConfig, audio } }, 'session.updated')
      expect(await client.refused({ type: 'input_audio_buffer.commit' })).toMatchObject({
        code: 'input_audio_buffer_commit_empty',
      })
      sendAudio(client, spoken('hello'))
      await client.exchange({ type: 'input_audio_buffer.commit' }, 'input_audio_buffer.committed')
      expect(client.types).not.toContain('input_audio_buffer.speech_started')
      const { response } = await client.exchange(respond, 'response.done')
      expect(response.status).toBe('completed')
    })

    it('cancels a response, and allows one at a time', async () => {
      const client = connect()
      await client.exchange(textOnly, 'session.updated')
      client.send(userSays('slow please reply at length'))
      await client.exchange(respond, 'response.created')
      expect(await client.refused({ ...respond, event_id: 'second' })).toMatchObject({
        code: 'conversation_already_has_active_response',
        event_id: 'second',
      })
      const { response } = await client.exchange({ type: 'response.cancel' }, 'response.done')
      expect(response).toMatchObject({ status: 'cancelled', status_details: { reason: 'client_cancelled' } })
      expect(await client.refused({ type: 'response.cancel' })).toMatchObject({ code: 'response_cancel_not_active' })
    })

    it('refuses the upgrade for a configuration of the secret that it cannot have', async () => {
      const audio = { input: { format: { type: 'audio/pcmu' } } }
      const secret = { session: { ...textConfig, model, audio } }
      const { value } = (await page.world.api.post('/v1/realtime/client_secrets', secret)).body
      expect(await connect({ protocols: ['realtime', `openai-insecure-api-key.${value}`], query: '' }).opened).toBe(
        false,
      )
    })

    it('counts responses that are cancelled or left, and transcripts alone, towards the budget of a secret', async () => {
      const secretOf = async (session: object): Promise<() => RealtimeConnection> => {
        const secret = { session: { ...textConfig, model, ...session }, budget_usd: '0.000001' }
        const { value } = (await page.world.api.post('/v1/realtime/client_secrets', secret)).body
        return () => connect({ protocols: ['realtime', `openai-insecure-api-key.${value}`], query: '' })
      }
      const answering = async (client: RealtimeConnection) => {
        await client.until('session.created')
        client.send(userSays('slow please reply at length'))
        await client.exchange(respond, 'response.output_text.delta')
      }
      const isSpent = async (open: () => RealtimeConnection) =>
        vi.waitFor(async () => expect(await open().opened).toBe(false), patience)
      const toCancel = await secretOf({})
      const cancelling = toCancel()
      await answering(cancelling)
      await cancelling.exchange({ type: 'response.cancel' }, 'response.done')
      cancelling.send(respond)
      expect(await cancelling.closed).toEqual({ code: 1008, reason: 'budget_exceeded' })
      await isSpent(toCancel)
      const toLeave = await secretOf({})
      const leaving = toLeave()
      await answering(leaving)
      leaving.close()
      await isSpent(toLeave)
      const speaking = (await secretOf({ audio: { input: { turn_detection: null } } }))()
      await speaking.until('session.created')
      for (const event of ['completed', 'failed']) {
        sendAudio(speaking, spoken('hello'))
        speaking.send({ type: 'input_audio_buffer.commit' })
        await speaking.until(`conversation.item.input_audio_transcription.${event}`)
      }
      expect(await speaking.closed).toEqual({ code: 1008, reason: 'budget_exceeded' })
    })

    it('reports a response that fails, and goes on', async () => {
      const client = connect()
      await client.exchange(textOnly, 'session.updated')
      client.send(userSays('malformed please'))
      const { response } = await client.exchange(respond, 'response.done')
      expect(response).toMatchObject({ status: 'failed', status_details: { error: { code: expect.any(String) } } })
      client.send(userSays('reply exactly: Fine.'))
      expect((await client.exchange(respond, 'response.done')).response.status).toBe('completed')
    })
  })

  describe('over an agent', () => {
    const refund = userSays('Please use issue_refund for order 1042')
    const withAgent = (approver: 'end_user' | 'operator', key: string) =>
      connect({ key, query: `model=${page.agents[approver]}` })

    it('waits for an approval as an item of the protocol, and runs the tool of the server once', async () => {
      const client = withAgent('end_user', await page.token())
      const { session } = await client.exchange(textOnly, 'session.updated')
      const before = page.tool.calls.length
      client.send(refund)
      const waiting = await client.exchange(respond, 'response.done')
      const [request] = waiting.response.output
      expect([waiting.response.status, request]).toMatchObject([
        'completed',
        { type: 'mcp_approval_request', name: 'issue_refund' },
      ])
      expect(page.tool.calls.length).toBe(before)
      const item = { type: 'mcp_approval_response', approval_request_id: request.id, approve: true }
      const { response } = await client.exchange({ type: 'conversation.item.create', item }, 'response.done')
      expect(response.status).toBe('completed')
      expect(response.output.map(({ type }: { type: string }) => type)).toEqual(['mcp_call', 'message'])
      expect(page.tool.calls.length).toBe(before + 1)
      const { body } = await page.world.api.get(`/v1/sessions/${session.id}`)
      expect(body).toMatchObject({ turn_count: 1, external_user_id: 'ada', agent_id: page.agents.end_user })
    })

    it('goes on when the operator decides, and the session is continued on another socket', async () => {
      const client = withAgent('operator', await page.token())
      const { session } = await client.exchange(textOnly, 'session.updated')
      client.send(refund)
      const waiting = await client.exchange(respond, 'response.done')
      const { id } = waiting.response.output[0]
      const item = { type: 'mcp_approval_response', approval_request_id: id, approve: true }
      expect(await client.refused({ type: 'conversation.item.create', item })).toMatchObject({ code: 'forbidden' })
      const from = client.events.length
      await page.world.api.post(`/v1/sessions/${session.id}/approve`, { action_id: id })
      expect((await client.until('response.done', from)).response.status).toBe('completed')
      client.close()
      const query = `model=${page.agents.operator}&session_id=${session.id}`
      const again = connect({ key: await page.token(), query })
      expect((await again.exchange(textOnly, 'session.updated')).session.id).toBe(session.id)
      again.send(userSays('reply exactly: Again.'))
      const { response } = await again.exchange(respond, 'response.done')
      expect(response.output[0].content[0].text).toBe('Again.')
    })

    it('lets the client run its own functions within a turn', async () => {
      const client = withAgent('end_user', await page.token())
      const tools = [{ type: 'function', name: 'get_page', parameters: { type: 'object' } }]
      await client.exchange({ ...textOnly, session: { ...textConfig, tools } }, 'session.updated')
      client.send(userSays('Please use get_page'))
      const { response } = await client.exchange(respond, 'response.done')
      expect(response.output).toMatchObject([{ type: 'function_call', name: 'get_page' }])
      const item = { type: 'function_call_output', call_id: response.output[0].call_id, output: 'Page of Acme' }
      client.send({ type: 'conversation.item.create', item })
      const answered = await client.exchange(respond, 'response.done')
      expect(JSON.stringify(answered.response.output)).toContain('Acme')
    })

    it('counts turns that wait, are cancelled or go on without the client towards the budget of a secret', async () => {
      const tools = [{ type: 'function', name: 'get_page', parameters: { type: 'object' } }]
      const tenant = (await page.world.api.post('/v1/tenants', { external_id: 'acme', name: 'Acme' })).body.id
      const secretOf = async (): Promise<() => RealtimeConnection> => {
        const session = { ...textConfig, model: page.agents.end_user, tools }
        const secret = { session, tenant_id: tenant, external_user_id: 'ada', budget_usd: '0.000001' }
        const { value } = (await page.world.api.post('/v1/realtime/client_secrets', secret)).body
        return () => connect({ protocols: ['realtime', `openai-insecure-api-key.${value}`], query: '' })
      }
      const begin = async (client: RealtimeConnection, words: string, until: string) => {
        await client.until('session.created')
        client.send(userSays(words))
        await client.exchange(respond, until)
      }
      const isSpent = async (open: () => RealtimeConnection) =>
        vi.waitFor(async () => expect(await open().opened).toBe(false), patience)
      const toWait = await secretOf()
      const waiting = toWait()
      await begin(waiting, 'Please use get_page', 'response.done')
      waiting.send(respond)
      expect(await waiting.closed).toEqual({ code: 1008, reason: 'budget_exceeded' })
      await isSpent(toWait)
      const toCancel = await secretOf()
      const cancelling = toCancel()
      await begin(cancelling, 'slow please reply at length', 'response.output_text.delta')
      await cancelling.exchange({ type: 'response.cancel' }, 'response.done')
      await isSpent(toCancel)
      const toLeave = await secretOf()
      const leaving = toLeave()
      await begin(leaving, 'slow please reply exactly: One two three.', 'response.output_text.delta')
      leaving.close()
      await isSpent(toLeave)
    })

    it('does not reach the sessions of other users', async () => {
      const session = await page.session()
      const query = `model=${page.agents.end_user}&session_id=${session}`
      const foreign = connect({ key: await page.token(undefined, 'eve'), query })
      expect(await foreign.opened).toBe(false)
      expect(await connect({ key: await page.token(), query }).opened).toBe(true)
    })
  })
})
