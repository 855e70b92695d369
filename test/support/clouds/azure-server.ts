import type { ServerResponse } from 'node:http'
import { arrayOf, objectOf, textOf, type WireObject } from '#outgoing/wire.ts'
import { answerText, CloudRefusal, type CloudRequest, CloudServer, picture, type Shape } from './cloud-server.ts'

const chat: Shape = {
  model: null,
  messages: [
    {
      role: null,
      content: [{ type: null, text: null, image_url: { url: null, detail: null } }],
      name: null,
      tool_calls: [{ id: null, type: null, function: { name: null, arguments: null } }],
      tool_call_id: null,
    },
  ],
  stream: null,
  stream_options: { include_usage: null },
  tools: [{ type: null, function: { name: null, description: null, parameters: null, strict: null } }],
  tool_choice: null,
  max_completion_tokens: null,
  temperature: null,
  response_format: { type: null, json_schema: { name: null, schema: null, strict: null } },
}

const usageOf = (scenario: string): WireObject => ({
  prompt_tokens: 120,
  completion_tokens: 7,
  total_tokens: 127,
  prompt_tokens_details: { cached_tokens: scenario === 'cached' ? 100 : 0 },
})

/** How the resource is called: by the v1 API, or by a dated version. */
interface AzureOptions {
  readonly key: string
  readonly version: string | null
  /** Names of the deployments. */
  readonly deployments: readonly string[]
  readonly entra: { readonly tenant: string; readonly client: string; readonly secret: string }
}

/** An Azure OpenAI resource with its Entra tenant. */
export class AzureServer extends CloudServer {
  readonly #options: AzureOptions

  constructor(options: AzureOptions) {
    super()
    this.#options = options
  }

  protected serve(request: CloudRequest, response: ServerResponse): unknown {
    const { pathname } = request.url
    if (pathname.endsWith('/oauth2/v2.0/token')) return this.#token(request, response)
    this.#authorised(request)
    const { version } = this.#options
    const dated = version !== null && /^\d/.test(version)
    if ((request.url.searchParams.get('api-version') ?? null) !== version)
      throw new CloudRefusal(404, 'Resource not found')
    const [, deployment, operation] = dated
      ? (/^\/openai\/deployments\/([^/]+)(\/.+)$/.exec(pathname) ?? [])
      : [null, textOf(objectOf(request.body).model), pathname.replace('/openai/v1', '')]
    if (pathname === (dated ? '/openai/models' : '/openai/v1/models'))
      return this.json(response, { object: 'list', data: [{ id: 'gpt-4o', object: 'model' }] })
    if (!this.#options.deployments.includes(deployment ?? ''))
      throw new CloudRefusal(404, 'The API deployment for this resource does not exist.')
    if (operation === '/embeddings')
      return this.json(response, {
        ...{ object: 'list', data: [{ index: 0, embedding: [0.5, 0.25] }], model: 'text-embedding-3-small' },
        usage: { prompt_tokens: 3, total_tokens: 3 },
      })
    if (operation !== '/chat/completions') throw new CloudRefusal(404, 'Resource not found')
    this.known(request.body, chat)
    return this.#chat(objectOf(request.body), response)
  }

  #token({ url, bytes, headers }: CloudRequest, response: ServerResponse): unknown {
    const { tenant, client, secret } = this.#options.entra
    const form = Object.fromEntries(new URLSearchParams(bytes.toString()))
    const { version } = this.#options
    const resource = version !== null && /^\d/.test(version) ? 'cognitiveservices.azure.com' : 'ai.azure.com'
    const expected = {
      ...{ grant_type: 'client_credentials', scope: `https://${resource}/.default` },
      ...{ client_id: client, client_secret: secret },
    }
    const isForm = headers['content-type'] === 'application/x-www-form-urlencoded'
    if (!isForm || url.pathname !== `/${tenant}/oauth2/v2.0/token` || JSON.stringify(form) !== JSON.stringify(expected))
      return this.json(response, { error: 'invalid_client', error_description: 'AADSTS7000215' }, 401)
    this.tokensIssued++
    return this.json(response, { token_type: 'Bearer', expires_in: 3599, access_token: this.#issued })
  }

  get #issued(): string {
    return `entra-token-${this.tokensIssued}`
  }

  #authorised({ headers }: CloudRequest): void {
    const byKey = headers['api-key'] === this.#options.key && headers.authorization === undefined
    const byToken = this.tokensIssued > 0 && headers.authorization === `Bearer ${this.#issued}`
    if (byKey || (byToken && headers['api-key'] === undefined)) return
    throw new CloudRefusal(401, 'Access denied due to invalid subscription key or wrong API endpoint.')
  }

  protected refuse(response: ServerResponse, status: number, message: string): void {
    this.json(response, { error: { code: status === 404 ? 'DeploymentNotFound' : String(status), message } }, status)
  }

  #chat(body: WireObject, response: ServerResponse): unknown {
    const messages = arrayOf(body.messages).map(objectOf)
    const last = messages.at(-1) ?? {}
    const parts = arrayOf(last.content).map(objectOf)
    const image = parts.find(({ type }) => type === 'image_url')
    const scenario = textOf(last.content) || textOf(parts.find(({ type }) => type === 'text')?.text)
    if (scenario === 'refuse')
      return this.json(response, { error: { code: 'invalid_value', message: 'Bad value.', param: 'messages' } }, 400)
    if (scenario === 'filtered')
      return this.json(response, { error: { code: 'content_filter', message: 'Filtered.', param: 'prompt' } }, 400)
    if (scenario === 'limit')
      return this.json(response, { error: { code: '429', message: 'Rate limit' } }, 429, { 'retry-after': '60' })
    const message = answerTo(body, last, { scenario, image })
    if (body.stream === true) return this.#stream(message, scenario, response)
    return this.json(response, completion(message, scenario))
  }

  #stream(message: WireObject, scenario: string, response: ServerResponse): unknown {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-2024-08-06' }
    const send = (chunk: WireObject) => response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    const choice = (delta: WireObject, finish_reason: string | null = null) =>
      send({ ...head, choices: [{ index: 0, delta, finish_reason, content_filter_results: {} }], usage: null })
    send({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [{ prompt_index: 0 }] })
    const calls = arrayOf(message.tool_calls).map((call, index) => ({ index, ...objectOf(call) }))
    choice({ role: 'assistant', content: '' })
    choice(calls.length > 0 ? { tool_calls: calls } : { content: message.content })
    if (scenario === 'hang') return response
    if (scenario === 'break') return response.socket?.end()
    choice({}, calls.length > 0 ? 'tool_calls' : 'stop')
    send({ ...head, choices: [], usage: usageOf(scenario) })
    return response.end('data: [DONE]\n\n')
  }
}

const answerTo = (
  body: WireObject,
  last: WireObject,
  { scenario, image }: { readonly scenario: string; readonly image: WireObject | undefined },
): WireObject => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }
  if (last.role === 'tool') return { role: 'assistant', content: `It is ${textOf(last.content)}.` }
  if (scenario === 'tool' && arrayOf(body.tools).length === 1)
    return { role: 'assistant', content: null, tool_calls: [call] }
  if (image !== undefined) {
    const shown = textOf(objectOf(image.image_url).url) === `data:image/png;base64,${picture}`
    return { role: 'assistant', content: shown ? 'A picture.' : 'Nothing.' }
  }
  if (scenario === 'json' && objectOf(body.response_format).type === 'json_schema')
    return { role: 'assistant', content: '{"city":"Oslo"}' }
  return { role: 'assistant', content: answerText }
}

const completion = (message: WireObject, scenario: string): WireObject => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o-2024-08-06' },
  choices: [{ index: 0, message, finish_reason: message.content === null ? 'tool_calls' : 'stop' }],
  usage: usageOf(scenario),
})
