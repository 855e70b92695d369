import type { EffectCatalog } from '../runtime/index.ts'
import { type EraseParts, eraseActor } from '../runtime/internal.ts'
import { exchangeCode, type GrantParts, refreshToken, revokeAtProvider, revokeGrant } from './oauth/grant-effects.ts'
import type { ConnectionTools } from './tools/connection-tools.ts'

/** Effects of the connection machine, by `<machine>.<name>`. */
export const connectionEffects = (
  parts: GrantParts & EraseParts & { readonly tools: Pick<ConnectionTools, 'remove'> },
): EffectCatalog => ({
  'connection.exchangeCode': exchangeCode(parts),
  'connection.refreshToken': refreshToken(parts),
  'connection.revokeGrant': revokeGrant(parts),
  'connection.eraseConnection': eraseActor(parts, async (context) => {
    const at = { id: context.actor, owner: context.owner }
    await revokeAtProvider(parts, context)
    await parts.vault.remove(at)
    await parts.discoveries.remove(at)
    await parts.tools.remove(at)
  }),
})
