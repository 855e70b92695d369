import type { ChatBody } from '#gateway/call/chat-calls.ts'
import { textOf } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Field of a chat request that carries the caller's `anthropic-beta` header. */
export const betasField = 'anthropic_betas'

/** A comma-separated list of 1 to 32 feature names. */
const shape = /^[\w.-]{1,64}(?: ?, ?[\w.-]{1,64}){0,31}$/

/**
 * Adds the beta features that the caller opts into; they are sent only to Anthropic's API.
 * @throws {ServiceError} `bad_request` when the header is not a list of names.
 */
export const withBetas = (body: ChatBody, betas: string | undefined): ChatBody => {
  if (betas === undefined || betas === '') return body
  if (shape.test(betas)) return { ...body, [betasField]: betas }
  throw new ServiceError('bad_request', {
    param: 'anthropic-beta',
    message: 'anthropic-beta must be a list of feature names.',
  })
}

/** The beta features of a request. A chat may have the field from its caller, unchecked. */
export const betasOf = (body: ChatBody): readonly string[] =>
  textOf(body[betasField])
    .split(',')
    .map((name) => name.trim())
    .filter((name) => /^[\w.-]{1,64}$/.test(name))

/** Returns the `anthropic-beta` header of beta features; empty when there are none. */
export const betaHeaders = (betas: readonly string[]): Readonly<Record<string, string>> =>
  betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }
