import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { textOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** The field of a chat request that carries the header `anthropic-beta` of its caller. */
export const betasField = 'anthropic_betas'

/** Names of features, between commas. */
const shape = /^[\w.-]{1,64}(?: ?, ?[\w.-]{1,64}){0,31}$/

/** The request with the features that its caller opts into; they go to Anthropic's API alone. @throws {ServiceError} `bad_request` */
export const withBetas = (body: ChatBody, betas: string | undefined): ChatBody => {
  if (betas === undefined || betas === '') return body
  if (shape.test(betas)) return { ...body, [betasField]: betas }
  throw new ServiceError('bad_request', {
    param: 'anthropic-beta',
    message: 'anthropic-beta must be a list of feature names.',
  })
}

/** The header for Anthropic's API. */
export const betaHeaders = (body: ChatBody): Readonly<Record<string, string>> => {
  const betas = textOf(body[betasField])
  return betas === '' ? {} : { 'anthropic-beta': betas }
}
