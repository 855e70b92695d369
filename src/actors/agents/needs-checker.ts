import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import type { Scope } from '#storage/index.ts'
import { contextOf } from '../runtime/index.ts'
import { overlaid } from './effective-config.ts'
import type { VersionRequirements } from './installations.ts'
import { examine, type ManifestParts, requireAll } from './manifest-check.ts'
import { jsonObjectOf, manifestOf } from './schema.ts'

/**
 * Checks that everything which a version requires with an installation's overlays is available.
 *
 * @returns a check that throws {ServiceError} `prerequisites_missing`, naming the findings that are errors.
 */
export const needsChecker =
  (parts: ManifestParts) =>
  async (scope: Scope, agentId: string, { version_id, overlays }: VersionRequirements): Promise<void> => {
    const { state } = await parts.versions.find(scope, agentId, version_id)
    const { config, requirements } = contextOf(agentVersionDefinition, state.snapshot)
    const needed = { config: overlaid(manifestOf(config), overlays), requirements: jsonObjectOf(requirements) }
    requireAll(await examine(parts, scope, { agentId, ...needed }))
  }
