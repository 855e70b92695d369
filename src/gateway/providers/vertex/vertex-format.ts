import { sign } from 'node:crypto'
import { promisify } from 'node:util'
import type { TokenRequest } from '#gateway/call/authorization/authorization.ts'
import { objectOf, parseJson, textOf } from '#outgoing/wire.ts'
import { anthropicFormat } from '../anthropic/anthropic-format.ts'
import { cloudBetas, cloudBody } from '../anthropic/cloud-messages.ts'
import { answerHeads } from '../chunk-writer.ts'
import { googleFailure } from '../google/google-failure.ts'
import { googleFormat } from '../google/google-format.ts'
import { googleImages } from '../google/google-images.ts'
import { google } from '../google/google-provider.ts'
import { listIn, type ProviderFormat, usualImages } from '../provider-format.ts'
import { isClaude, vertexClaude, vertexMessages } from './claude-on-vertex.ts'

const signed = promisify(sign)
const scope = 'https://www.googleapis.com/auth/cloud-platform'
/** Lifetime of an assertion in s: Google's maximum. */
const assertionSeconds = 3600

/** The token of a service account: an assertion that its key signed is exchanged for it (RFC 7523). */
const accountToken = (credentials: string): TokenRequest => {
  const account = objectOf(parseJson(textOf(objectOf(parseJson(credentials)).service_account)))
  const url = textOf(account.token_uri) || 'https://oauth2.googleapis.com/token'
  return {
    ...{ key: credentials, url },
    form: async () => {
      const iat = Math.floor(Date.now() / 1000)
      const header = { alg: 'RS256', typ: 'JWT', kid: account.private_key_id }
      const claims = { iss: account.client_email, scope, aud: url, iat, exp: iat + assertionSeconds }
      const text = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')
      const signature = await signed('RSA-SHA256', Buffer.from(text), textOf(account.private_key))
      const assertion = `${text}.${signature.toString('base64url')}`
      return { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion }
    },
  }
}

const methodPath = (publisher: string, model: string, method: string): string =>
  `/publishers/${publisher}/models/${encodeURIComponent(model)}:${method}`

const noHeaders = () => ({})

const gemini = googleFormat(answerHeads, {
  pathOf: (model, method) => methodPath('google', model, method),
  headersOf: noHeaders,
})

/** Anthropic's models: the body names the version of the API, and the URL the model. */
const claude = anthropicFormat(answerHeads, {
  path: ({ model }, stream) => methodPath('anthropic', model, stream ? 'streamRawPredict' : 'rawPredict'),
  headers: noHeaders,
  betas: (named, request) => cloudBetas(vertexClaude, named, request),
  body: (request) => cloudBody(request, vertexClaude),
})

/** Publishers whose models are listed, one after the other. */
const publishers = ['google', 'anthropic']

/** Google's Vertex AI, with Google's and Anthropic's models. */
export const vertex: ProviderFormat = {
  headers: noHeaders,
  authorize: async ({ apiKey }, _, tokenOf) => ({
    authorization: `Bearer ${await tokenOf(accountToken(apiKey ?? ''))}`,
  }),
  // the host of the global location has no prefix
  address: (url) => url.replace('//global-aiplatform.', '//aiplatform.'),
  chat: {
    request: (body, route, stream) => (isClaude(route.model) ? claude : gemini).request(body, route, stream),
    failure: googleFailure,
  },
  messages: ({ model }) => (isClaude(model) ? vertexMessages : null),
  images: ({ model }, given) =>
    model.startsWith('gemini-')
      ? googleImages({ path: methodPath('google', model, 'generateContent'), headers: {} }, given)
      : null,
  imageLimits: { ...(google.imageLimits ?? usualImages), types: usualImages.types, maxBytes: 5 * 1024 * 1024 },
  models: {
    base: (baseUrl) => `${new URL(baseUrl).origin}/v1beta1`,
    path: (after) => {
      const [publisher = '', token = ''] = (after ?? `${publishers[0]} `).split(' ')
      const page = token === '' ? '' : `&pageToken=${encodeURIComponent(token)}`
      return `/publishers/${publisher}/models?pageSize=200${page}`
    },
    rows: (json) => listIn(objectOf(json).publisherModels) ?? [],
    model: (row) => {
      const id = textOf(row.name).replace(/^publishers\/[^/]+\/models\//, '')
      return { id, name: id }
    },
    next: (json, after) => {
      const [publisher = ''] = (after ?? `${publishers[0]} `).split(' ')
      const token = textOf(objectOf(json).nextPageToken)
      if (token !== '') return `${publisher} ${token}`
      const next = publishers[publishers.indexOf(publisher) + 1]
      return next === undefined ? null : `${next} `
    },
  },
}
