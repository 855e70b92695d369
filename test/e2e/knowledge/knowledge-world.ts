import { vi } from 'vitest'
import type { Answered, Api } from '../api.ts'
import { patience } from '../patience.ts'

/** A client of one knowledge base with one credential. */
export class KnowledgeBase {
  readonly id: string
  readonly #api: Api

  constructor(api: Api, id: string) {
    this.#api = api
    this.id = id
  }

  static async create(api: Api, body: object = {}): Promise<KnowledgeBase> {
    const { status, body: base } = await api.post('/v1/knowledge-bases', { name: 'Docs', ...body })
    if (status !== 201) throw new Error(JSON.stringify(base))
    return new KnowledgeBase(api, base.id)
  }

  get path(): string {
    return `/v1/knowledge-bases/${this.id}`
  }

  as(api: Api): KnowledgeBase {
    return new KnowledgeBase(api, this.id)
  }

  search(query: string, more: object = {}): Promise<Answered> {
    return this.#api.post(`${this.path}/search`, { query, ...more })
  }

  grant(subject_type: string, subject_id: string): Promise<Answered> {
    return this.#api.post(`${this.path}/grants`, { subject_type, subject_id })
  }

  /** Adds a source and waits until it is ready or has failed. */
  async add(body: object): Promise<Answered['body']> {
    return this.settled((await this.#api.post(`${this.path}/sources`, body)).body.id)
  }

  /** Uploads a file as browsers and curl do, and waits until it is ready or has failed. */
  async upload(name: string, bytes: Uint8Array | string, fields: Readonly<Record<string, string>> = {}) {
    const { status, body } = await this.form(`${this.path}/sources`, name, bytes, fields)
    if (status !== 201) throw new Error(JSON.stringify(body))
    return this.settled(body.id)
  }

  async form(path: string, name: string, bytes: Uint8Array | string, fields: Readonly<Record<string, string>> = {}) {
    const { body, type } = formOf(name, bytes, fields)
    return answered(await this.#api.upload(path, body, type))
  }

  async settled(id: string): Promise<Answered['body']> {
    return vi.waitFor(async () => {
      const { body } = await this.#api.get(`${this.path}/sources/${id}`)
      if (body.status !== 'ready' && body.status !== 'failed') throw new Error(JSON.stringify(body))
      return body
    }, patience)
  }

  async chunks(id: string): Promise<readonly Answered['body'][]> {
    return (await this.#api.get(`${this.path}/sources/${id}/chunks?limit=100`)).body.data
  }
}

const formOf = (name: string, bytes: Uint8Array | string, fields: Readonly<Record<string, string>>) => {
  const boundary = 'knowledge-boundary'
  const parts = Object.entries(fields).map(
    ([field, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  )
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\ncontent-type: application/octet-stream\r\n\r\n`
  const body = Buffer.concat([
    Buffer.from(parts.join('') + head),
    Buffer.from(bytes),
    Buffer.from(`\r\n--${boundary}--\r\n`),
  ])
  return { body, type: `multipart/form-data; boundary=${boundary}` }
}

const answered = async (response: Response): Promise<Answered> => ({
  status: response.status,
  headers: response.headers,
  body: await response.json(),
})
