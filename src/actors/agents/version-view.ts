import type { AgentVersionContext, VersionActor } from '#machines/agent-version/agent-version.ts'
import { agentVersionDefinition } from '#machines/agent-version/agent-version-definition.ts'
import { statusOf } from '#machines/index.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Status } from '#specs/statuses.ts'
import { rowTimes, timestampOf, timestampOrNull } from '../records/row-times.ts'
import type { Row } from '../records/schema.ts'
import { contextOf } from '../runtime/index.ts'
import type { Resident } from '../runtime/internal.ts'
import { shownTools } from '../sessions/tools/tool-headers.ts'
import type { VersionRowData } from './kinds.ts'
import { jsonObjectOf, manifestOf, testEvidence } from './schema.ts'

/** A version as the API returns it. */
export type AgentVersionView = ResultOf<'agent_versions.get'>

/** Builds the view from a live version. */
export const versionView = ({ id, state, owner, touchedAt }: Resident): AgentVersionView => {
  const times = { created_at: owner.createdAt, updated_at: touchedAt }
  return viewOf(id, {
    status: statusOf(agentVersionDefinition, state.snapshot) ?? 'retired',
    context: contextOf(agentVersionDefinition, state.snapshot),
    times,
  })
}

/** Builds the view from a version's list row. */
export const versionRowView = (row: Row<VersionRowData>): AgentVersionView =>
  viewOf(row.id, { status: row.data.status, context: row.data, times: row })

const viewOf = (
  id: string,
  {
    status,
    context,
    times,
  }: {
    readonly status: Status<'agent_version'>
    readonly context: AgentVersionContext
    readonly times: { readonly created_at: number; readonly updated_at: number }
  },
): AgentVersionView => ({
  id,
  agent_id: context.agent_id,
  version: context.version,
  status,
  config: shownTools(manifestOf(context.config)),
  requirements: jsonObjectOf(context.requirements),
  visibility: context.visibility,
  test: context.test === null ? null : testEvidence(context.test),
  review: reviewOf(context),
  created_by: nameOf(context.created_by),
  submitted_at: timestampOrNull(context.submitted_at),
  published_at: timestampOrNull(context.published_at),
  deprecated_at: timestampOrNull(context.deprecated_at),
  retired_at: timestampOrNull(context.retired_at),
  ...rowTimes(times),
})

const reviewOf = ({ review }: AgentVersionContext): AgentVersionView['review'] => {
  if (review === null) return null
  const { decision, reason, by, at } = review
  return { decision, reason, by: nameOf(by), at: timestampOf(at) }
}

/** A key or member by its id, which people can look up; other actors by their kind. */
const nameOf = ({ kind, id }: VersionActor): string => id ?? kind
