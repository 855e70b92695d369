import type { Attribution, Idempotency, Principal, UploadedFile } from '#actors/call/call.ts'
import { isLong } from '#outgoing/shares/encode-in-steps.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { runInSlices, type SlicedWork } from '#src/concurrency/run-in-slices.ts'
import type { Scope } from '#storage/index.ts'
import type { HttpRequest } from '../http/http-port.ts'
import { canonical, canonicalHashInSteps, hashInSteps, hashOf } from './canonical.ts'

/** Parts of a request that must be equal when a key is repeated. */
export interface RequestContent {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly files: readonly UploadedFile[]
}

/** 1 to 255 visible characters. */
const keyShape = /^[\x20-\x7e]{1,255}$/

/** A request, its caller, and the tenant and user it is made for. */
export interface KeyedCall {
  readonly request: Pick<HttpRequest, 'header'>
  readonly principal: Principal
  readonly scope: Scope
  readonly attribution?: Attribution | undefined
}

/**
 * The Idempotency-Key of a request, unique per project, credential, tenant, user and operation, with a hash of the
 * request's content. Another credential of the project can neither get an answer by guessing a key nor block one.
 * Tenant and user from headers count as well, so that no tenant gets another's answer.
 *
 * @returns null when there is none, and for operations that take none. Long content is hashed over several loop turns.
 * @throws {ServiceError} `invalid_header`
 */
export const idempotencyOf = (
  operation: Operation,
  { request, principal, scope, attribution }: KeyedCall,
  content: RequestContent,
): Idempotency | null | Promise<Idempotency> => {
  if (operation.idempotency === 'ignored') return null
  const key = request.header('idempotency-key')
  if (key === undefined) return null
  if (!keyShape.test(key)) {
    throw new ServiceError('invalid_header', {
      param: 'Idempotency-Key',
      message: 'Idempotency-Key must have 1 to 255 visible ASCII characters.',
    })
  }
  const caller = [scope.project, credentialOf(principal), scope.tenant ?? '', scope.user ?? '']
  const named = attribution === undefined ? [] : [JSON.stringify([attribution.tenant, attribution.externalUserId])]
  const cause = `idem:${hashOf([...caller, ...named, operation.id, key].join('\n'))}`
  const fingerprint = fingerprintOf(content)
  if (typeof fingerprint === 'string') return { cause, fingerprint, seed: null }
  return fingerprint.then((late) => ({ cause, fingerprint: late, seed: null }))
}

/** Identifies a credential by what stays the same when its holder gets a new token or signs in again. */
const credentialOf = (principal: Principal): string => {
  switch (principal.kind) {
    case 'secret_key':
    case 'agent_key':
      return principal.keyId
    case 'dashboard':
      return principal.memberId
    case 'client_token':
      return JSON.stringify([principal.kind, principal.sessionId, [...principal.installationIds].sort()])
    case 'public':
      return principal.kind
  }
}

/** Hash of the content; files are represented by their hashes. */
const fingerprintOf = (content: RequestContent): string | Promise<string> =>
  content.files.length > 0 || isLong(content.body)
    ? runInSlices(fingerprintInSteps(content))
    : hashOf(canonical({ ...content, files: [] }))

function* fingerprintInSteps({ files, ...content }: RequestContent): SlicedWork<string> {
  const hashed: object[] = []
  for (const { bytes, ...file } of files) hashed.push({ ...file, hash: yield* hashInSteps(bytes) })
  return yield* canonicalHashInSteps({ ...content, files: hashed })
}
