import { assign, setup } from 'xstate'
import type { WebhookEventType } from '#specs/events/webhook-events.ts'
import type { Status } from '#specs/statuses.ts'
import { type Notice, type Refusal, type Refusing, vocabulary } from '../declared.ts'
import { type At, type AuditLine, assignsOf, type Message, type Shown } from '../index.ts'

/** The caller of a command (src/actors/records/audit-note.ts, `actorOf`). */
export type VersionActor = { readonly kind: string; readonly id: string | null }

/** A person's decision on a version in review. `at` is in ms since the epoch. */
type VersionReview = {
  readonly decision: 'approve' | 'reject'
  readonly reason: string | null
  readonly by: VersionActor
  readonly at: number
}

/**
 * A version's durable context. Long texts are JSON text, so that each can be moved from the snapshot to a single blob.
 */
export type AgentVersionContext = {
  readonly version_id: string
  readonly agent_id: string
  /** Semantic version, chosen by the author. */
  readonly version: string
  /** JSON text of the manifest's config; never changes. */
  readonly config: string
  /** JSON text of the version's requirements. */
  readonly requirements: string
  readonly visibility: 'private' | 'unlisted' | 'public'
  readonly created_by: VersionActor
  /** JSON text of the newest test's result. */
  readonly test: string | null
  readonly review: VersionReview | null
  readonly submitted_at: number | null
  readonly published_at: number | null
  readonly deprecated_at: number | null
  readonly retired_at: number | null
  /**
   * Number of changes to the version's catalogue entry. If two messages arrive out of order, the later change is kept.
   */
  readonly listings: number
}

/** Input of a new version. */
export type AgentVersionInput = Pick<
  AgentVersionContext,
  'version_id' | 'agent_id' | 'version' | 'config' | 'requirements' | 'visibility' | 'created_by'
>

type By = { readonly by: VersionActor; readonly at: number }

/** All events of a version. `at` is in ms since the epoch. */
export type AgentVersionEvent =
  | ({ readonly type: 'tested'; readonly evidence: string } & By)
  | ({ readonly type: 'submit' } & By)
  | ({ readonly type: 'review'; readonly decision: 'approve' | 'reject'; readonly reason: string | null } & By)
  | ({ readonly type: 'publish' } & By)
  | ({ readonly type: 'deprecate' } & By)
  | ({ readonly type: 'retire' } & By)
  /** The agent is being deleted. */
  | ({ readonly type: 'delete' } & By)

/** Sink for `{ type: 'list' | 'unlist', … }` messages of versions (src/actors/agents/catalogue.ts). */
export const catalogueSink = 'agent_catalog'

type VersionStatus = Status<'agent_version'>

const notice = (event_type: WebhookEventType, status: VersionStatus, context: AgentVersionContext): Notice => ({
  event_type,
  data: { version_id: context.version_id, agent_id: context.agent_id, version: context.version, status },
})

const notifies = (event_type: WebhookEventType, status: VersionStatus) => ({
  type: 'notify' as const,
  params: ({ context }: { context: AgentVersionContext }) => notice(event_type, status, context),
})

const line = (action: string, by: VersionActor): AuditLine => ({
  action: `agent_version.${action}`,
  by,
  resource: 'agent_version',
})

const audits = (action: string) => ({
  type: 'audit' as const,
  params: ({ event }: { event: AgentVersionEvent }) => ({ lines: [line(action, event.by)] }),
})

const listing = (type: 'list' | 'unlist', context: AgentVersionContext): Message => {
  const { version_id, agent_id, version, visibility, listings, published_at } = context
  const event = { type, version_id, agent_id, version, visibility, listings, published_at }
  return { to: catalogueSink, event }
}

const lists = (type: 'list' | 'unlist') => ({
  type: 'send' as const,
  params: ({ context }: { context: AgentVersionContext }) => ({ messages: [listing(type, context)] }),
})

const versionSetup = setup({
  types: {
    context: {} as AgentVersionContext,
    input: {} as AgentVersionInput,
    events: {} as AgentVersionEvent,
    meta: {} as Refusing<AgentVersionContext, AgentVersionEvent> & Shown<AgentVersionContext, Status<'agent_version'>>,
  },
  actions: { ...vocabulary, eraseVersion: (_: unknown, _params: { version_id: string }) => {} },
  guards: { approves: ({ event }) => event.type === 'review' && event.decision === 'approve' },
})

const published = versionSetup.assign(({ context, event }) => ({
  published_at: event.at,
  listings: context.listings + 1,
}))

type Reviewed = At<AgentVersionContext, Extract<AgentVersionEvent, { type: 'review' }>>

const reviewed = assignsOf<AgentVersionContext, AgentVersionEvent>()(
  ({ event: { decision, reason, by, at } }: Reviewed) => ({ review: { decision, reason, by, at } }),
)

const withdrawn = versionSetup.assign(({ context }) => ({ listings: context.listings + 1 }))

const refused: Refusal = { code: 'invalid_transition' }

/** Refusals of a deleted version: none, because it is not found before any of these can be requested. */
const ignored = { tested: null, submit: null, review: null, publish: null, deprecate: null, retire: null } as const

const publish = {
  target: 'published',
  actions: [published, notifies('agent_version.published', 'published'), audits('published'), lists('list')],
} as const

/**
 * One version of an agent, from its draft to its retirement (`agent_versions.create`).
 * Its manifest never changes. Only of a draft a test can begin; its result is stored when it ends.
 * All other transitions, including repeated ones, are refused with `invalid_transition`.
 */
export const agentVersionMachine = versionSetup.createMachine({
  id: 'agent_version',
  context: ({ input }) => ({
    ...input,
    test: null,
    review: null,
    submitted_at: null,
    published_at: null,
    deprecated_at: null,
    retired_at: null,
    listings: 0,
  }),
  entry: [
    notifies('agent_version.created', 'draft'),
    { type: 'audit', params: ({ context }) => ({ lines: [line('created', context.created_by)] }) },
  ],
  initial: 'draft',
  meta: {
    refuses: {
      submit: refused,
      review: refused,
      publish: refused,
      deprecate: refused,
      retire: refused,
    },
  },
  on: {
    // the model was called, and has to be paid for, whatever was decided meanwhile
    tested: { actions: [assign({ test: ({ event }) => event.evidence }), audits('tested')] },
    delete: { target: '.deleted', actions: audits('deleted') },
  },
  states: {
    draft: {
      meta: { status: 'draft' },
      on: {
        submit: {
          target: 'in_review',
          actions: [
            assign({ submitted_at: ({ event }) => event.at }),
            notifies('agent_version.submitted', 'in_review'),
            audits('submitted'),
          ],
        },
        publish,
      },
    },
    in_review: {
      meta: { status: 'in_review' },
      on: {
        review: [
          {
            guard: 'approves',
            target: 'published',
            actions: [reviewed, ...publish.actions],
          },
          {
            target: 'draft',
            actions: [
              reviewed,
              audits('rejected'),
              {
                type: 'notify',
                params: ({ context, event }) => {
                  const { event_type, data } = notice('agent_version.rejected', 'draft', context)
                  return { event_type, data: { ...data, reason: event.reason } }
                },
              },
            ],
          },
        ],
        publish,
      },
    },
    published: {
      meta: { status: 'published' },
      on: {
        deprecate: {
          target: 'deprecated',
          actions: [
            withdrawn,
            assign({ deprecated_at: ({ event }) => event.at }),
            notifies('agent_version.deprecated', 'deprecated'),
            audits('deprecated'),
            lists('unlist'),
          ],
        },
        retire: {
          target: 'retired',
          actions: [
            withdrawn,
            assign({ retired_at: ({ event }) => event.at }),
            notifies('agent_version.retired', 'retired'),
            audits('retired'),
            lists('unlist'),
          ],
        },
      },
    },
    deprecated: {
      meta: { status: 'deprecated' },
      on: {
        retire: {
          target: 'retired',
          actions: [
            assign({ retired_at: ({ event }) => event.at }),
            notifies('agent_version.retired', 'retired'),
            audits('retired'),
          ],
        },
      },
    },
    retired: { meta: { status: 'retired' } },
    deleted: {
      type: 'final',
      meta: { refuses: ignored },
      entry: { type: 'eraseVersion', params: ({ context }) => ({ version_id: context.version_id }) },
    },
  },
})
