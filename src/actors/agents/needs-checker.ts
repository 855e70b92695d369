import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { contextOf } from '#runtime/schema.ts'
import type { Scope } from '#specs/scope.ts'
import { overlaid } from './effective-config.ts'
import type { Needing } from './installations.ts'
import { examine, type ManifestParts, requireAll } from './manifest-check.ts'
import { jsonObjectOf, manifestOf } from './schema.ts'

/**
 * Holds what an installation would run against all that it needs: its version under its overlays.
 *
 * @returns a check that throws {ServiceError} `prerequisites_missing` with every finding that is an error.
 */
export const needsChecker =
  (parts: ManifestParts) =>
  async (scope: Scope, agentId: string, { version_id, overlays }: Needing): Promise<void> => {
    const { state } = await parts.versions.find(scope, agentId, version_id)
    const { config, requirements } = contextOf(agentVersionDefinition, state.snapshot)
    const needed = { config: overlaid(manifestOf(config), overlays), requirements: jsonObjectOf(requirements) }
    requireAll(await examine(parts, scope, { agentId, ...needed }))
  }
