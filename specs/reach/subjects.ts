import type { CallerKind } from '../field-access.ts'

/**
 * Things other than the caller that a request can name: whose data it concerns, who pays for it, and what runs.
 * `resource` is any other resource of a project, which only secret keys and dashboard sessions can name.
 */
export const subjects = [
  'tenant',
  'user',
  'agent',
  'installation',
  'session',
  'run',
  'action',
  'model',
  'tool_server',
  'knowledge_base',
  'conversation',
  'resource',
  'project',
] as const

/** One of `subjects`. */
export type Subject = (typeof subjects)[number]

/**
 * Which subjects of a kind a credential may name.
 * - `any`: every one of the project. One of another project is 404, as an unknown one.
 * - `own`: those of its agent, or of its tenant and user. Another one is 404 as well, but a model or tool server that is not the
 *   agent's is 403 `secret_key_required`.
 * - `installed`: tenants that have installed the agent of the key. Another one is 404.
 * - `of_tenant`: users, if the request also names a tenant that the credential reaches. Otherwise 403
 *   `secret_key_required`.
 * - `permitted`: as the agent's config permits (`turn_overrides`). Otherwise 403 `secret_key_required`.
 * - `none`: 403 `secret_key_required` or `forbidden`, or the field has no effect.
 */
export type Reach = 'any' | 'own' | 'installed' | 'of_tenant' | 'permitted' | 'none'

/** The subjects that each kind of caller may name, in every field of every operation that it may call. */
export const reach: Readonly<Record<CallerKind, Readonly<Record<Subject, Reach>>>> = {
  secret_key: {
    ...{ tenant: 'any', user: 'any', agent: 'any', installation: 'any', session: 'any', run: 'any', action: 'any' },
    ...{
      model: 'any',
      tool_server: 'any',
      knowledge_base: 'any',
      conversation: 'any',
      resource: 'any',
      project: 'none',
    },
  },
  agent_secret_key: {
    ...{ tenant: 'installed', user: 'of_tenant', agent: 'own', installation: 'own', session: 'own', run: 'own' },
    ...{
      action: 'own',
      model: 'own',
      tool_server: 'own',
      knowledge_base: 'own',
      conversation: 'own',
      resource: 'none',
    },
    project: 'none',
  },
  agent_public_key: {
    ...{ tenant: 'none', user: 'none', agent: 'own', installation: 'none', session: 'own', run: 'own', action: 'own' },
    ...{
      model: 'own',
      tool_server: 'none',
      knowledge_base: 'none',
      conversation: 'none',
      resource: 'none',
      project: 'none',
    },
  },
  client_token: {
    ...{ tenant: 'none', user: 'none', agent: 'own', installation: 'none', session: 'own', run: 'none' },
    ...{
      action: 'own',
      model: 'permitted',
      tool_server: 'none',
      knowledge_base: 'own',
      conversation: 'none',
      resource: 'none',
    },
    project: 'none',
  },
  dashboard: {
    ...{ tenant: 'any', user: 'any', agent: 'any', installation: 'any', session: 'any', run: 'any', action: 'any' },
    ...{
      model: 'any',
      tool_server: 'any',
      knowledge_base: 'any',
      conversation: 'any',
      resource: 'any',
      project: 'own',
    },
  },
}

/** Part of a request. */
export type RequestPart = 'header' | 'path' | 'query' | 'body'

/**
 * The fields that name subjects, by part of the request and name. In bodies a name is a path: `memory.userId`,
 * `tools[].server_id`; the same name has the same meaning in every operation. Another id in a path names a `resource`, which only
 * secret keys and the dashboard reach. `npm run check` lists other fields of operations that are neither here nor in `plainFields`.
 */
export const subjectFields: Readonly<Record<RequestPart, Readonly<Record<Subject, readonly string[]>>>> = {
  header: { ...nothing(), tenant: ['X-Tenant-Id'], user: ['X-External-User-Id'], project: ['X-Project-Id'] },
  path: {
    ...{ tenant: ['tenant_id'], user: ['external_user_id', 'end_user_id'], agent: ['agent_id'] },
    ...{ installation: ['installation_id'], session: ['session_id'], run: ['run_id'], model: ['model'] },
    ...{
      tool_server: ['server_id'],
      knowledge_base: ['knowledge_base_id', 'vector_store_id'],
      project: ['project_id'],
    },
    ...{ action: ['action_id'], conversation: ['conversation_id', 'item_id', 'response_id'] },
    resource: [],
  },
  query: {
    ...{ tenant: ['tenant_id'], user: ['external_user_id', 'user', 'userId'], agent: ['agent_id'] },
    ...{ installation: ['installation_id'], session: ['session_id', 'sessionId'], run: ['run_id', 'parent_run_id'] },
    ...{ action: [], model: ['model'], tool_server: [], knowledge_base: [], conversation: [], project: ['project_id'] },
    resource: [
      ...[
        'actor_id',
        'assignee_id',
        'connection_id',
        'ids',
        'key_id',
        'member_id',
        'rate_plan_id',
        'resource_id',
        'subject_id',
        'webhook_id',
      ],
    ],
  },
  body: {
    tenant: ['tenant_id', 'scopes.tenants[]'],
    user: [
      'external_user_id',
      'user',
      'userId',
      'user_id',
      'memory.userId',
      'metadata.user_id',
      'config.memory.userId',
    ],
    agent: ['agent_id', 'agent_version_id', 'config.subagents', 'config.subagents[].agent_id'],
    installation: ['installation_id', 'installation_ids[]'],
    session: [
      ...['session_id', 'sessionId', 'memory.sessionId', 'memories[].sessionId', 'config.memory.sessionId'],
      'threadId',
    ],
    run: ['run_id'],
    action: ['action_id', 'tool_results[].action_id', 'resume[].interruptId'],
    model: [
      ...[
        'model',
        'models[]',
        'memory.extract.model',
        'extract.model',
        'config.model',
        'config.models[]',
        'skill_review_model',
        'checks[].model',
      ],
      ...['config.context.model', 'config.memory.extract.model', 'overlays.model', 'overlays.models[]'],
      ...['overlays.context.model', 'scopes.models[]', 'knowledge.vision_model', 'session.model', 'judge_model'],
      ...['session.audio.input.transcription.model', 'session.audio.output.model'],
    ],
    tool_server: ['tools[].server_id', 'tools[].server_label', 'config.mcp_servers', 'config.remote_agents'],
    knowledge_base: ['tools[].vector_store_ids[]', 'config.knowledge', 'config.knowledge_bases'],
    conversation: [...['conversation', 'conversation.id', 'previous_response_id', 'thread.previous_message_id']],
    resource: [
      ...[
        'assignee_id',
        'auth.connection_id',
        'auth.connector',
        'connection_id',
        'ids',
        'config.connectors',
        'config.skills',
        'connector',
        'ids[]',
      ],
      ...['file_id', 'file_ids[]', 'files[].file_id', 'input_file_id'],
      ...[
        'provider_id',
        'questions[].source_id',
        'rate_plan_id',
        'skill_id',
        'subject.id',
        'subject.subject_id',
        'subject_id',
      ],
      ...['test_connection_ids[]', 'prompt.id', 'config.prompts[].id', 'config.guardrails'],
    ],
    project: [],
  },
}

function nothing(): Readonly<Record<Subject, readonly string[]>> {
  return {
    ...{ tenant: [], user: [], agent: [], installation: [], session: [], run: [], action: [], model: [] },
    ...{ tool_server: [], knowledge_base: [], conversation: [], resource: [], project: [] },
  }
}

/** Fields whose names look like those of subjects, and what they are instead. */
export const plainFields: Readonly<Record<RequestPart, readonly string[]>> = {
  header: [],
  // the id in a catalogue that everybody may read
  path: ['id'],
  // cursors of lists
  query: [
    'after_id',
    'before_id',
    'connector',
    'contextId',
    'external_id',
    'owner_type',
    'provider',
    'subject',
    'subject_type',
  ],
  body: [
    // names and keys that the request itself brings
    ...[
      'external_id',
      'prompt_cache_key',
      'requests[].custom_id',
      // of rules, which change what calls reach by their own credentials
      ...['rules[].model', 'rules[].shadow_model', 'rules[].when.models', 'rules[].when.models[]'],
      ...['rules[].when.tenants', 'rules[].when.tenants[]', 'rules[].when.metadata'],
      'client_id',
      'config.client_id',
      'auth.client_id',
      'api_key',
      'apiKey',
      'models',
      'models[].modelId',
      'provider',
    ],
    // of a company's account at a cloud
    ...['settings.account_id', 'settings.project_id', 'credentials.tenant_id', 'credentials.client_id'],
    ...['credentials.access_key_id', 'credentials.secret_access_key', 'settings.location', 'settings.region'],
    ...['credentials.service_account', 'credentials.session_token'],
    // words, numbers and switches
    ...[
      'actions[].key',
      'events[].key',
      'auth.owner',
      'key_type',
      'owner_type',
      'remote_servers',
      'subject',
      'subject_type',
      'subject.subject_type',
    ],
    ...['facts[].subject', 'memories[].facts[].subject', 'memory.plan', 'knowledge', 'sessions_days'],
    ...['memory.searches_per_user_day', 'memory.writes_per_user_day', 'memory.session_retention_days'],
    ...['memory.user_retention_days'],
    // ids within the conversation that the request carries
    ...[
      'messages[].toolCallId',
      'messages[].tool_call_id',
      'messages[].id',
      'messageId',
      'id',
      'runId',
      'configuration.taskPushNotificationConfig.id',
    ],
    // lists whose entries name the subjects, or that are refused
    ...['config.models', 'overlays.models', 'mcp_servers', 'tools[].server_url', 'session'],
    // the URL of a foreign server, which is no resource of the project
    'config.server_url',
    // a switch of a sign-in provider
    'creates_members',
  ],
}
