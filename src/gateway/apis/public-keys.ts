import type { Principal } from '#actors/call/call.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** An agent's public key is seen in browsers: it may chat, and nothing else of the gateway. @throws {ServiceError} `forbidden` */
export const refusePublicKey = (principal: Principal): void => {
  if (principal.kind === 'agent_key' && principal.keyType === 'public') throw new ServiceError('forbidden')
}
