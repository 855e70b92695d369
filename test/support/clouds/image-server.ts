import type { ServerResponse } from 'node:http'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import { CloudRefusal, type CloudRequest, CloudServer, type Shape } from './cloud-server.ts'
import { drawn, gemini } from './vertex-server.ts'

/** Text fields of OpenAI's edits. */
const fields = new Set([
  ...['model', 'prompt', 'n', 'size', 'quality', 'response_format', 'user', 'background', 'input_fidelity'],
  ...['output_format', 'output_compression', 'moderation'],
])
const types = ['image/png', 'image/jpeg', 'image/webp']

/** xAI's edits. */
const xaiImage = { type: null, url: null }
const xaiEdit: Shape = {
  ...{ model: null, prompt: null, n: null, response_format: null, user: null, aspect_ratio: null, resolution: null },
  ...{ image: xaiImage, images: [xaiImage] },
}

/** A form as it arrived: texts, and the types and sizes of its files by field. */
export interface SeenForm {
  readonly texts: Readonly<Record<string, string>>
  readonly files: readonly (readonly [field: string, type: string, size: number, name: string])[]
}

/** Image edits of OpenAI, Azure and Google at their paths, each with its own key. */
export class ImageServer extends CloudServer {
  forms: SeenForm[] = []

  protected async serve(request: CloudRequest, response: ServerResponse): Promise<unknown> {
    const { pathname } = request.url
    const { authorization, 'api-key': azure, 'x-goog-api-key': google } = request.headers
    if (pathname.startsWith('/v1beta/models/') && pathname.endsWith(':generateContent')) {
      if (google !== 'google-key') throw new CloudRefusal(401, 'API key not valid.')
      this.known(request.body, gemini)
      return this.json(response, drawn(request.body))
    }
    const key = pathname === '/openai/v1/images/edits' ? azure === 'azure-key' : authorization === 'Bearer openai-key'
    if (!key) throw new CloudRefusal(401, 'Incorrect API key provided.')
    if (pathname === '/xai/images/edits') return this.#editOfXai(request.body, response)
    if (!pathname.endsWith('/images/edits')) throw new CloudRefusal(404, 'Unknown request URL')
    const form = await this.#formOf(request)
    this.forms.push(form)
    const isAbsurd = form.texts.prompt === 'absurd'
    const data = Array.from({ length: isAbsurd ? 500 : Number(form.texts.n ?? 1) }, () => ({ b64_json: 'aGk=' }))
    const input_tokens_details = { text_tokens: 10, image_tokens: 200 }
    const output_tokens = isAbsurd ? 9e8 : 1000
    const usage = { input_tokens: 210, input_tokens_details, output_tokens, total_tokens: 210 + output_tokens }
    return this.json(response, { created: 1, data, usage })
  }

  /** One image by `image` or two and three by `images`, each as a URL. */
  #editOfXai(body: unknown, response: ServerResponse): unknown {
    this.known(body, xaiEdit)
    const { prompt, n, image, images } = objectOf(body)
    const given = image === undefined ? arrayOf(images) : [image]
    const isOne = (image === undefined) !== (images === undefined)
    const isUrl = (each: unknown): boolean => /^data:image\/(?:png|jpeg|webp);base64,./.test(textOf(objectOf(each).url))
    if (!isOne || textOf(prompt) === '' || given.length > 3 || !given.every(isUrl))
      throw new CloudRefusal(400, 'Failed to deserialize the JSON body into the target type')
    const data = Array.from({ length: Number(n ?? 1) }, () => ({ b64_json: 'aGk=' }))
    // 0.02 USD an image, and 0.002 an image of the input
    const cost_in_usd_ticks = 200_000_000 * data.length + 20_000_000 * given.length
    const usage = textOf(prompt) === 'uncharged' ? {} : { usage: { cost_in_usd_ticks } }
    return this.json(response, { data, ...usage })
  }

  protected refuse(response: ServerResponse, status: number, message: string): void {
    this.json(response, { error: { code: null, type: 'invalid_request_error', message } }, status)
  }

  /** @throws {CloudRefusal} for what OpenAI's schema does not have. */
  async #formOf({ headers, bytes }: CloudRequest): Promise<SeenForm> {
    const contentType = headers['content-type'] ?? ''
    const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': contentType } })
      .formData()
      .catch(() => null)
    if (form === null) throw new CloudRefusal(400, 'a form is required')
    const texts: Record<string, string> = {}
    const files: SeenForm['files'][number][] = []
    for (const [name, value] of form) {
      if (typeof value === 'string') {
        if (!fields.has(name) || name in texts) throw new CloudRefusal(400, `Unknown parameter: ${name}`)
        texts[name] = value
      } else if (!['image', 'image[]', 'mask'].includes(name) || !types.includes(value.type))
        throw new CloudRefusal(400, `Invalid file ${name}: ${value.type}`)
      else files.push([name, value.type, value.size, value.name])
    }
    const images = files.filter(([name]) => name !== 'mask')
    if (!texts.model || !texts.prompt || images.length === 0) throw new CloudRefusal(400, 'Missing required parameter')
    if (images.length > 1 && images.some(([name]) => name !== 'image[]'))
      throw new CloudRefusal(400, 'Duplicate parameter: image')
    return { texts, files }
  }
}
