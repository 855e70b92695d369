import { createVerify } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { arrayOf, isObject, objectOf, parseJson, textOf, type WireObject } from '#outgoing/wire.ts'
import { claude, claudeReply, foreignBetas } from './claude.ts'
import { answerText, CloudRefusal, type CloudRequest, CloudServer, picture, type Shape } from './cloud-server.ts'

const part: Shape = {
  text: null,
  inlineData: { mimeType: null, data: null },
  functionCall: { id: null, name: null, args: null },
  functionResponse: { id: null, name: null, response: null },
  thoughtSignature: null,
}
/** The body of Gemini's `generateContent`. */
export const gemini: Shape = {
  contents: [{ role: null, parts: [part] }],
  systemInstruction: { role: null, parts: [part] },
  tools: [{ functionDeclarations: [{ name: null, description: null, parametersJsonSchema: null }] }],
  toolConfig: { functionCallingConfig: { mode: null, allowedFunctionNames: null } },
  generationConfig: {
    ...{ maxOutputTokens: null, temperature: null, topP: null, topK: null, stopSequences: null, candidateCount: null },
    ...{ responseMimeType: null, responseJsonSchema: null, thinkingConfig: null, seed: null },
    ...{ responseModalities: [null], imageConfig: { aspectRatio: null } },
  },
}
/** The service account, and where the models are. */
interface VertexOptions {
  readonly email: string
  readonly keyId: string
  readonly publicKey: string
  readonly project: string
  readonly location: string
}

/** Vertex AI with the service that issues its tokens: assertions are verified by the account's public key. */
export class VertexServer extends CloudServer {
  readonly #options: VertexOptions

  constructor(options: VertexOptions) {
    super()
    this.#options = options
  }

  protected serve(request: CloudRequest, response: ServerResponse): unknown {
    const { pathname } = request.url
    if (pathname === '/token') return this.#token(request, response)
    if (request.headers.authorization !== `Bearer vertex-token-${this.tokensIssued}`)
      throw new CloudRefusal(401, 'Request had invalid authentication credentials.')
    if (pathname.startsWith('/v1beta1/publishers/')) return this.#list(pathname.split('/')[3] ?? '', response)
    const { project, location } = this.#options
    const root = `/v1/projects/${project}/locations/${location}/publishers/`
    const [publisher, , name = ''] = pathname.startsWith(root) ? pathname.slice(root.length).split('/') : []
    const method = name.split(':')[1] ?? ''
    const streams = method.startsWith('stream')
    if (publisher === 'anthropic' && ['rawPredict', 'streamRawPredict'].includes(method)) {
      const { model, ...body } = objectOf(request.body)
      this.known(body, claude)
      const named = textOf(request.headers['anthropic-beta']).split(',')
      if (foreignBetas(named, ['', 'web-search-2025-03-05']).length > 0) throw new CloudRefusal(400, 'anthropic-beta')
      if ((model !== undefined) !== name.startsWith('count-tokens:')) throw new CloudRefusal(400, 'model')
      if (model !== undefined) return this.#count(body, response)
      if (body.anthropic_version !== 'vertex-2023-10-16') throw new CloudRefusal(400, 'anthropic_version')
      if ((body.stream === true) !== streams) throw new CloudRefusal(400, 'stream')
      return this.#claude(body, streams, response)
    }
    if (publisher !== 'google' || !['generateContent', 'streamGenerateContent'].includes(method))
      throw new CloudRefusal(404, 'Publisher model was not found.')
    this.known(request.body, gemini)
    if (objectOf(objectOf(request.body).generationConfig).responseModalities !== undefined)
      return this.json(response, drawn(request.body))
    return this.#gemini(objectOf(request.body), streams, response)
  }

  protected refuse(response: ServerResponse, status: number, message: string): void {
    this.json(response, { error: { code: status, message, status: 'FAILED' } }, status)
  }

  #token({ bytes }: CloudRequest, response: ServerResponse): unknown {
    const form = new URLSearchParams(bytes.toString())
    const [head = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.')
    const { email, keyId, publicKey } = this.#options
    const decoded = (text: string) => objectOf(parseJson(Buffer.from(text, 'base64url').toString()))
    const isSigned = createVerify('RSA-SHA256').update(`${head}.${claims}`).verify(publicKey, signature, 'base64url')
    const { iss, aud, scope, iat, exp } = decoded(claims)
    const now = Date.now() / 1000
    const isTimely = Number(iat) <= now + 1 && Number(exp) > now && Number(exp) - Number(iat) <= 3600
    const isOurs =
      iss === email && aud === this.url('/token') && decoded(head).kid === keyId && decoded(head).alg === 'RS256'
    const isGrant = form.get('grant_type') === 'urn:ietf:params:oauth:grant-type:jwt-bearer'
    if (!isSigned || !isTimely || !isOurs || !isGrant || !textOf(scope).endsWith('/auth/cloud-platform'))
      return this.json(response, { error: 'invalid_grant' }, 400)
    this.tokensIssued++
    return this.json(response, {
      access_token: `vertex-token-${this.tokensIssued}`,
      expires_in: 3599,
      token_type: 'Bearer',
    })
  }

  #list(publisher: string, response: ServerResponse): unknown {
    const name = publisher === 'google' ? 'gemini-2.5-flash' : 'claude-haiku-4-5'
    return this.json(response, { publisherModels: [{ name: `publishers/${publisher}/models/${name}` }] })
  }

  #refused(scenario: string, response: ServerResponse): boolean {
    if (scenario === 'refuse') this.refuse(response, 400, 'Bad value.')
    if (scenario === 'limit')
      this.json(response, { error: { code: 429, status: 'RESOURCE_EXHAUSTED' } }, 429, { 'retry-after': '60' })
    return scenario === 'refuse' || scenario === 'limit'
  }

  #gemini(body: WireObject, streams: boolean, response: ServerResponse): unknown {
    const parts = arrayOf(objectOf(arrayOf(body.contents).at(-1)).parts).map(objectOf)
    const scenario = parts.map(({ text }) => textOf(text)).join('')
    if (this.#refused(scenario, response)) return response
    const cached = scenario === 'cached' ? { cachedContentTokenCount: 100 } : {}
    const usageMetadata = { promptTokenCount: 120, candidatesTokenCount: 7, totalTokenCount: 127, ...cached }
    const content = { role: 'model', parts: [geminiAnswer(body, parts, scenario)] }
    const candidate = { index: 0, content }
    const rest = { usageMetadata, modelVersion: 'gemini-2.5-flash', responseId: 'r1' }
    const whole = { candidates: [{ ...candidate, finishReason: 'STOP' }], ...rest }
    if (!streams) return this.json(response, whole)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const send = (event: object): unknown => response.write(`data: ${JSON.stringify(event)}\r\n\r\n`)
    if (scenario === 'hang' || scenario === 'break') {
      send({ candidates: [candidate], ...rest })
      return scenario === 'hang' ? response : response.end()
    }
    send(whole)
    return response.end()
  }

  /** Refusals of Anthropic's models have Anthropic's form. */
  #unfit(response: ServerResponse): unknown {
    const error = { type: 'invalid_request_error', message: 'messages.0: not so.' }
    return this.json(response, { type: 'error', error, request_id: 'req_vrtx_1' }, 400)
  }

  #count(body: WireObject, response: ServerResponse): unknown {
    if (claudeReply(body).scenario === 'uncounted') return this.#unfit(response)
    return this.json(response, { input_tokens: 42 })
  }

  #claude(body: WireObject, streams: boolean, response: ServerResponse): unknown {
    const { scenario, whole, events } = claudeReply(body)
    if (scenario === 'refuse') return this.#unfit(response)
    if (this.#refused(scenario, response)) return response
    if (!streams) return this.json(response, whole)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const sent = scenario === 'hang' || scenario === 'break' ? events.slice(0, 3) : events
    for (const event of sent) response.write(`event: ${textOf(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
    return scenario === 'hang' ? response : response.end()
  }
}

/** The answer of an image model: the last image of the request, or the usual one, after a draft. */
export const drawn = (body: unknown): WireObject => {
  const given = arrayOf(objectOf(arrayOf(objectOf(body).contents).at(-1)).parts).map(objectOf)
  const { inlineData = { mimeType: 'image/png', data: picture } } = given.at(-1) ?? {}
  const parts = [{ inlineData: { mimeType: 'image/png', data: 'ZHJhZnQ=' }, thought: true }, { inlineData }]
  const refused = given.some(({ text }) => text === 'forbidden')
  return {
    candidates: [
      refused ? { finishReason: 'IMAGE_SAFETY' } : { content: { role: 'model', parts }, finishReason: 'STOP' },
    ],
    usageMetadata: {
      ...{ promptTokenCount: 268, candidatesTokenCount: 1290, totalTokenCount: 1558 },
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 10 },
        { modality: 'IMAGE', tokenCount: 258 },
      ],
    },
  }
}

const geminiAnswer = (body: WireObject, parts: readonly WireObject[], scenario: string): WireObject => {
  const result = parts.find(({ functionResponse }) => isObject(functionResponse))
  if (result !== undefined) {
    const { name, response } = objectOf(result.functionResponse)
    return { text: name === 'weather' ? `It is ${textOf(objectOf(response).output)}.` : 'What?' }
  }
  if (scenario === 'tool' && arrayOf(body.tools).length === 1)
    return { functionCall: { name: 'weather', args: { city: 'Oslo' } } }
  const image = parts.find(({ inlineData }) => isObject(inlineData))
  if (image !== undefined) {
    const { mimeType, data } = objectOf(image.inlineData)
    return { text: mimeType === 'image/png' && data === picture ? 'A picture.' : 'Nothing.' }
  }
  const isJson = isObject(objectOf(body.generationConfig).responseJsonSchema)
  return { text: scenario === 'json' && isJson ? '{"city":"Oslo"}' : answerText }
}
