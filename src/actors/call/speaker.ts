import { type CallerKind, serverSide } from '#specs/field-access.ts'
import type { Principal } from './call.ts'

/** Returns the kind of caller that the field access rules distinguish; null without a credential. */
export const speakerOf = (principal: Principal): CallerKind | null => {
  if (principal.kind === 'public') return null
  if (principal.kind !== 'agent_key') return principal.kind
  return principal.keyType === 'secret' ? 'agent_secret_key' : 'agent_public_key'
}

/**
 * Who reads an event: `caller` can run the caller's own tools, since its credential may answer their calls; `page` those
 * that a page declared; `person` is everyone else.
 */
export type EventReader = 'caller' | 'page' | 'person'

/** Returns who reads with this credential: secret keys belong to the caller's server, which runs the caller's tools. */
export const readerOf = (principal: Principal): EventReader => {
  if (principal.kind === 'client_token') return principal.permissions.includes('sessions:tools') ? 'page' : 'person'
  const speaker = speakerOf(principal)
  return speaker === 'secret_key' || speaker === 'agent_secret_key' ? 'caller' : 'person'
}

/** Whether a credential is used only on servers: one that browsers see unlocks no restricted feature of an agent. */
export const isServerSide = (principal: Principal): boolean => {
  const speaker = speakerOf(principal)
  return speaker !== null && serverSide.includes(speaker)
}
