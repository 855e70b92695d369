/** Reasons why a kill between two writes is harmless; each names what completes the work, or what is left. */
const repeat = 'the repeat of the request, which was not acknowledged, continues where the first one stopped'
const rerun = 'an effect or a round of a sweep that is run again after a crash, and does what is left'
const orphan = 'the first write is only found through the second, and goes with its tenant or project'
const expires = 'the first write counts or marks, and ends by itself'
const heard = 'the second write only tells other nodes, which read again when their copy is old'
const guarded = 'the reader compares both, and believes the first write only with the second'
const protocol = 'a protocol with tests of its own that kill it at each step'

/**
 * Functions that write twice in sequence, as `<path> <name>`, with the reason why a process may be killed in between.
 * An entry whose function no longer does is reported.
 */
export const harmlessPairs: Readonly<Record<string, string>> = {
  'src/actors/accounts/bootstrap.ts bootstrap': `${protocol}: the claim is taken over`,
  'src/actors/accounts/bootstrap.ts makeRows': `${protocol}: whoever takes over the claim makes all rows again`,
  'src/actors/accounts/login-use-cases.ts auth.change_password':
    'sessions of an earlier password are invalid by the first write; the second removes their rows',
  'src/actors/accounts/member-use-cases.ts project_members.update':
    'both writes store the same change; sessions of an earlier password are invalid by the first one',
  'src/actors/accounts/login-use-cases.ts auth.end_other_sessions': repeat,
  'src/actors/accounts/member-use-cases.ts project_members.unlink_oidc': repeat,
  'src/actors/accounts/member-use-cases.ts removeMember': repeat,
  'src/actors/accounts/oidc/oidc-members.ts of': 'the next sign-in finds the link, and sets the role',
  'src/actors/accounts/oidc/oidc-sign-in-use-cases.ts completed':
    'the member signs in again: a session without an answer has no cookie',
  'src/actors/accounts/sign-in/member-sign-in.ts open': 'a session whose cookie was never sent ends by itself',
  'src/actors/accounts/sign-in/session-use-cases.ts auth_sessions.delete': repeat,
  'src/actors/accounts/member-use-cases.ts demote':
    'the second write undoes the first if two owners were demoted at the same time; a kill leaves what each of the two callers requested',
  'src/actors/accounts/oauth/oauth-use-cases.ts oauth_consents.create': `${repeat}: it finds the grant under its id, and returns the same code`,
  'src/actors/accounts/project-key-use-cases.ts rotate': `${repeat}; until then there is a key whose secret was never shown`,
  'src/actors/accounts/reset-owner.ts resetOwner': 'sessions of an earlier password are invalid by the first write',
  'src/actors/agents/agent-use-cases.ts agents.create': orphan,
  'src/actors/agents/agent-use-cases.ts agents.update': orphan,
  'src/actors/agents/agent-use-cases.ts agents.delete': `${repeat}; the agent itself is removed last`,
  'src/actors/agents/agent-use-cases.ts removeAll': `${repeat}; the agent itself is removed last`,
  'src/actors/agents/agent-versions.ts create':
    'the reservation of a number without a version passes to the next request',
  'src/actors/agents/installation-use-cases.ts installations.update': orphan,
  'src/actors/agents/installation-use-cases.ts created': orphan,
  'src/actors/agents/version-use-cases.ts agent_versions.create': orphan,
  'src/actors/backup/import-project.ts importProject': `${protocol}: the mark of a begun import is resumed`,
  'src/actors/browser/agents/agent-browser.ts browsed': 'a job that is not cancelled ends at its own deadline',
  'src/actors/connections/config-change.ts store': repeat,
  'src/actors/connections/oauth/grant-effects.ts refreshed': `${protocol}: a mark that is left says that an answer may be lost`,
  'src/actors/connections/connection-effects.ts connectionEffects': rerun,
  'src/actors/connections/connection-use-cases.ts connections.test': `${guarded}: a refreshed grant has a generation`,
  'src/actors/connections/connection-use-cases.ts created': orphan,
  'src/actors/connections/connection-use-cases.ts updated': repeat,
  'src/actors/connections/oauth/grant-effects.ts keepNext': `${rerun}: the event of a stored grant is returned again`,
  'src/actors/connections/oauth/grant-effects.ts run': rerun,
  'src/actors/connections/oauth/sign-in-use-cases.ts connections.authorize':
    'a registered client is used by the next sign-in',
  'src/actors/connections/oauth/sign-in-use-cases.ts begin': 'a registered client is used by the next sign-in',
  'src/actors/connections/oauth/sign-in-use-cases.ts connections.start': expires,
  'src/actors/connections/oauth/sign-in-use-cases.ts returned': 'the sign-in is used up, and the user begins another',
  'src/actors/connections/oauth/sign-in-use-cases.ts confirmed': 'the sign-in is used up, and the user begins another',
  'src/actors/connections/tools/agent-connectors.ts called': `${guarded}: a refreshed grant has a generation`,
  'src/actors/connections/use/connection-access.ts access': `${guarded}: a refreshed grant has a generation`,
  'src/actors/connections/use/connection-access.ts refused': `${guarded}: a refreshed grant has a generation`,
  'src/actors/connections/use/connection-access.ts ready': `${guarded}: a refreshed grant has a generation`,
  'src/actors/connections/use/connection-access.ts insufficient': `${guarded}: a refreshed grant has a generation`,
  'src/actors/connections/use/connection-access.ts challenged':
    'the first write prepares a connection, which waits for its owner in any case',
  'src/actors/connections/use/remote-connections.ts create': orphan,
  'src/actors/connections/use/remote-connections.ts withdraw': repeat,
  'src/actors/indexing/index-changes.ts changed': 'segments that are not merged are merged with the next change',
  'src/actors/indexing/index-changes.ts purge': `${repeat}: what is left is removed with the next removal, or with a search ten minutes later`,
  'src/actors/indexing/stored-indexes.ts recheck':
    'segments that no index names are removed later, and the next search compares all documents again',
  'src/actors/knowledge/stores/store-file-use-cases.ts vector_store_file_batches.create': `${repeat}: a file that was added is found again`,
  'src/actors/mcp/remote-agents/call-agent.ts callAgent': `${rerun}: the call follows the recorded task`,
  'src/actors/mcp/server-use-cases.ts register': orphan,
  'src/actors/memory/changed-memory.ts changedMemory': heard,
  'src/actors/memory/embedding/embedding-rounds.ts embed': rerun,
  'src/actors/memory/indexes/user-memory-indexes.ts open': heard,
  'src/actors/memory/memory-limits.ts operation': `${expires}: an operation that failed is counted for a day`,
  'src/actors/memory/memory-search.ts search': expires,
  'src/actors/memory/memory-use-cases.ts removedMemory': `${repeat}: the memory itself is removed last`,
  'src/actors/memory/memory-writer.ts write': expires,
  'src/actors/memory/memory-writer.ts written': heard,
  'src/actors/memory/open-memory.ts forget': heard,
  'src/actors/memory/writes/decided-writes.ts apply': `${protocol}: one transaction of an embedded store, or a message that another process carries out`,
  'src/actors/memory/writes/decided-writes.ts carryOut': `${protocol}: another process carries out what was claimed`,
  'src/actors/memory/writes/decided-writes.ts finish': `${protocol}: another process carries out what was claimed`,
  'src/actors/memory/writes/decided-writes.ts recover': `${protocol}: another process carries out what was claimed`,
  'src/actors/memory/writes/extract-facts.ts run': `${rerun}: it is counted once under its id`,
  'src/actors/memory/recalling.ts recalled': expires,
  'src/actors/memory/remember-use-cases.ts remembered': expires,
  'src/actors/memory/upkeep-use-cases.ts memory.forget': `${repeat}: exchanges are removed before the memories that name them`,
  'src/actors/retention/retention-rounds.ts apply':
    'what was deleted stays deleted; only the line of the round is missing in the audit log',
  'src/actors/runs/a2a/a2a-runs.ts begun':
    'the record of a message names the run that its repeat begins; of a refused one it is left for 30 days',
  'src/actors/runs/lanes.ts mark': 'a lane that is marked without a run is unmarked when it is next looked at',
  'src/actors/runs/lanes.ts unmark': `${guarded}: a lane that is being closed is still looked at`,
  'src/actors/sessions/action-use-cases.ts createAction': orphan,
  'src/actors/sessions/input/unclaimed-images.ts during': `${protocol}: the first write is the record by which a sweep finds what is left`,
  'src/actors/sessions/session-use-cases.ts startTurn': orphan,
  'src/actors/sessions/reviews/action-reviews.ts changed':
    'the second write removes a review of an action that was deleted at that moment; without it, the review goes with its tenant or project',
  'src/actors/skills/import-use-cases.ts publish': repeat,
  'src/actors/skills/import-use-cases.ts published': repeat,
  'src/actors/skills/skill-versions.ts publish': 'readers skip candidates that are not published',
  'src/actors/skills/skill-versions.ts deprecate': 'readers skip candidates that are not published',
  'src/actors/tenants/owner-eraser.ts erase': rerun,
  'src/actors/tenants/tenant-user-use-cases.ts put': `${repeat}; until then, for 20 minutes, tokens of the user are refused`,
  'src/actors/tenants/tenant-user-use-cases.ts remove': `${repeat}: the refusal of the tokens comes first`,
  'src/actors/tenants/tenant-user-use-cases.ts forget': `${repeat}: the refusal of the tokens comes first`,
  'src/actors/web/crawl/index-page.ts indexed': `${rerun}: the page that has moved is stored under its new address`,
  'src/actors/web/store/page-store.ts save':
    'only a takedown in the same moment makes the second write necessary; its own search for the page runs after its mark',
  'src/actors/web/store/page-store.ts block': `${repeat}: the takedown is pending until all pages are removed`,
  'src/actors/web/takedowns/takedown-use-cases.ts web_takedowns.decide': `${repeat}: it is pending until all pages are removed`,
  'src/gateway/apis/messages/threads/thread-store.ts kept': 'the earlier thread stays usable, and expires by itself',
  'src/gateway/apis/responses/stored-responses.ts keep': orphan,
  'src/gateway/apis/responses/stored-responses.ts remove': `${repeat}: the response itself is removed last`,
  'src/gateway/ledger/ledger-records.ts remove': rerun,
  'src/gateway/realtime/relay/response-charges.ts end':
    'each write is another response; those that a kill leaves out are lost as every call in progress is',
  'src/gateway/ledger/ledger-records.ts clear': rerun,
  'src/gateway/ledger/segment-expander.ts round': rerun,
  'src/gateway/ledger/segment-expander.ts expand': `${rerun}: rows of a segment have ids of their own`,
  'src/gateway/limits/budget-account.ts save': protocol,
  'src/gateway/limits/grant-credits.ts ungateCredits':
    'the operator sees that the command failed, and its repeat does what is left',
  'src/gateway/limits/limit-use-cases.ts limits.delete':
    'a counter without a limit is never read: ids are not used again',
  'src/gateway/routing/connection-use-cases.ts provider_connections.delete':
    'the connection is gone by the first write; lists of its models are only read through it',
  'src/gateway/routing/model-sync-use-cases.ts apply': `${repeat}: the connection names its list, whatever its status`,
  'src/gateway/realtime/relay/relay-session.ts transcribed':
    'each write counts towards another budget, and a kill ends the session that would go on spending',
}
