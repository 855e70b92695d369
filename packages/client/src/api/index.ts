/* Made from the declarations by `npm run generate`; not to be edited. */
import { type CallOptions, type Pages, resource } from '../call.ts'
import type { Troupe } from '../troupe.ts'
import { unwrap } from '../webhooks.ts'

export type { CallOptions, Pages } from '../call.ts'
export type { UnwrapOptions, WebhookRequest } from '../webhooks.ts'
export { unwrap } from '../webhooks.ts'

/** All resources of the API. */
export interface Api {
  readonly auditLog: AuditLogCalls
  readonly tenants: TenantsCalls
  readonly tenantUsers: TenantUsersCalls
  readonly endUsers: EndUsersCalls
  readonly webhooks: WebhooksCalls & { readonly unwrap: typeof unwrap }
  readonly webhookDeliveries: WebhookDeliveriesCalls
  readonly models: ModelsCalls
  readonly providerConnections: ProviderConnectionsCalls
  readonly modelSyncs: ModelSyncsCalls
  readonly aiChat: AiChatCalls
  readonly responses: ResponsesCalls
  readonly conversations: ConversationsCalls
  readonly conversationItems: ConversationItemsCalls
  readonly messages: MessagesCalls
  readonly speech: SpeechCalls
  readonly transcriptions: TranscriptionsCalls
  readonly chatCompletions: ChatCompletionsCalls
  readonly embeddings: EmbeddingsCalls
  readonly moderations: ModerationsCalls
  readonly completions: CompletionsCalls
  readonly rerank: RerankCalls
  readonly images: ImagesCalls
  readonly vision: VisionCalls
  readonly requestLog: RequestLogCalls
  readonly requestLogSettings: RequestLogSettingsCalls
  readonly limits: LimitsCalls
  readonly credits: CreditsCalls
  readonly redactionPolicy: RedactionPolicyCalls
  readonly batches: BatchesCalls
  readonly usage: UsageCalls
  readonly ratePlans: RatePlansCalls
  readonly memory: MemoryCalls
  readonly agents: AgentsCalls
  readonly agentKeys: AgentKeysCalls
  readonly agentVersions: AgentVersionsCalls
  readonly agentCatalog: AgentCatalogCalls
  readonly installations: InstallationsCalls
  readonly sessions: SessionsCalls & Troupe['sessions']
  readonly actions: ActionsCalls
  readonly uiMessages: UiMessagesCalls
  readonly agUi: AgUiCalls
  readonly runs: RunsCalls
  readonly skills: SkillsCalls
  readonly skillVersions: SkillVersionsCalls
  readonly skillImports: SkillImportsCalls
  readonly clientTokens: ClientTokensCalls
  readonly knowledgeBases: KnowledgeBasesCalls
  readonly knowledgeGrants: KnowledgeGrantsCalls
  readonly knowledgeSources: KnowledgeSourcesCalls
  readonly knowledgeRecallSets: KnowledgeRecallSetsCalls
  readonly files: FilesCalls
  readonly vectorStores: VectorStoresCalls
  readonly vectorStoreFiles: VectorStoreFilesCalls
  readonly vectorStoreFileBatches: VectorStoreFileBatchesCalls
  readonly web: WebCalls
  readonly webCrawls: WebCrawlsCalls
  readonly webTakedowns: WebTakedownsCalls
  readonly connections: ConnectionsCalls
  readonly connectors: ConnectorsCalls
  readonly browserJobs: BrowserJobsCalls
  readonly browserProfiles: BrowserProfilesCalls
  readonly mcpServers: McpServersCalls
  readonly stuck: StuckCalls
  readonly retentionSettings: RetentionSettingsCalls
}

/** All resources of the API with the credential of a client. A bundle with a single one has its own function instead: `agents(client)`. */
export const api = (client: Troupe): Api => ({
  auditLog: auditLog(client),
  tenants: tenants(client),
  tenantUsers: tenantUsers(client),
  endUsers: endUsers(client),
  webhooks: { ...webhooks(client), unwrap },
  webhookDeliveries: webhookDeliveries(client),
  models: models(client),
  providerConnections: providerConnections(client),
  modelSyncs: modelSyncs(client),
  aiChat: aiChat(client),
  responses: responses(client),
  conversations: conversations(client),
  conversationItems: conversationItems(client),
  messages: messages(client),
  speech: speech(client),
  transcriptions: transcriptions(client),
  chatCompletions: chatCompletions(client),
  embeddings: embeddings(client),
  moderations: moderations(client),
  completions: completions(client),
  rerank: rerank(client),
  images: images(client),
  vision: vision(client),
  requestLog: requestLog(client),
  requestLogSettings: requestLogSettings(client),
  limits: limits(client),
  credits: credits(client),
  redactionPolicy: redactionPolicy(client),
  batches: batches(client),
  usage: usage(client),
  ratePlans: ratePlans(client),
  memory: memory(client),
  agents: agents(client),
  agentKeys: agentKeys(client),
  agentVersions: agentVersions(client),
  agentCatalog: agentCatalog(client),
  installations: installations(client),
  sessions: { ...sessions(client), ...client.sessions },
  actions: actions(client),
  uiMessages: uiMessages(client),
  agUi: agUi(client),
  runs: runs(client),
  skills: skills(client),
  skillVersions: skillVersions(client),
  skillImports: skillImports(client),
  clientTokens: clientTokens(client),
  knowledgeBases: knowledgeBases(client),
  knowledgeGrants: knowledgeGrants(client),
  knowledgeSources: knowledgeSources(client),
  knowledgeRecallSets: knowledgeRecallSets(client),
  files: files(client),
  vectorStores: vectorStores(client),
  vectorStoreFiles: vectorStoreFiles(client),
  vectorStoreFileBatches: vectorStoreFileBatches(client),
  web: web(client),
  webCrawls: webCrawls(client),
  webTakedowns: webTakedowns(client),
  connections: connections(client),
  connectors: connectors(client),
  browserJobs: browserJobs(client),
  browserProfiles: browserProfiles(client),
  mcpServers: mcpServers(client),
  stuck: stuck(client),
  retentionSettings: retentionSettings(client),
})

export interface AuditLogCalls {
  /** List the entries of the audit log. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly tenant_id?: string; readonly action?: string; readonly actor_id?: string; readonly resource_type?: string; readonly resource_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly AuditLine[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, AuditLine>
}

export const auditLog = /* @__PURE__ */ resource<AuditLogCalls>({
  list: 'GET /v1/audit-log *cursor',
})

export interface TenantsCalls {
  /** List tenants. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "active" | "suspended" | "deleting" | "deleted"; /** Your own id of the tenant. */ readonly external_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Tenant[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, Tenant>
  /** Create or update a tenant. */ create(body: { /** Your own id of the tenant. */ readonly external_id: string; readonly name: string; readonly region?: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<Tenant>
  /** Retrieve a tenant. */ get(tenantId: string, options?: CallOptions): Promise<Tenant>
  /** Update a tenant. */ update(tenantId: string, body?: { readonly name?: string; readonly region?: string | null; readonly metadata?: { readonly [name: string]: unknown }; readonly status?: "active" | "suspended" }, options?: CallOptions): Promise<Tenant>
  /** Delete a tenant. */ delete(tenantId: string, options?: CallOptions): Promise<DeletedTenant>
  /** Export a tenant. */ export(tenantId: string, options?: CallOptions): Promise<TenantExport | Response>
}

export const tenants = /* @__PURE__ */ resource<TenantsCalls>({
  list: 'GET /v1/tenants *cursor',
  create: 'POST /v1/tenants !',
  get: 'GET /v1/tenants/{}',
  update: 'PATCH /v1/tenants/{} !',
  delete: 'DELETE /v1/tenants/{}',
  export: 'POST /v1/tenants/{}/export',
})

export interface TenantUsersCalls {
  /** Retrieve a tenant user. */ get(tenantId: string, externalUserId: string, options?: CallOptions): Promise<TenantUser>
  /** Create or update a tenant user. */ put(tenantId: string, externalUserId: string, body?: { readonly display_name?: string | null; readonly email?: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<TenantUser>
  /** List tenant users. */ list(tenantId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly TenantUser[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, TenantUser>
  /** Update a tenant user. */ update(tenantId: string, externalUserId: string, body?: { readonly display_name?: string | null; readonly email?: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<TenantUser>
  /** Delete a tenant user. */ delete(tenantId: string, externalUserId: string, options?: CallOptions): Promise<{ readonly id: string; readonly deleted: true }>
}

export const tenantUsers = /* @__PURE__ */ resource<TenantUsersCalls>({
  get: 'GET /v1/tenants/{}/users/{}',
  put: 'PUT /v1/tenants/{}/users/{} !',
  list: 'GET /v1/tenants/{}/users *cursor',
  update: 'PATCH /v1/tenants/{}/users/{} !',
  delete: 'DELETE /v1/tenants/{}/users/{}',
})

export interface EndUsersCalls {
  /** List end users. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly external_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly EndUser[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, EndUser>
  /** Create or update an end user. */ create(body: { /** Your own id of the user. */ readonly external_id: string; readonly display_name?: string | null; readonly email?: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<EndUser>
  /** Retrieve an end user. */ get(endUserId: string, options?: CallOptions): Promise<EndUser>
  /** Update an end user. */ update(endUserId: string, body?: { readonly display_name?: string | null; readonly email?: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<EndUser>
  /** Delete an end user. */ delete(endUserId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
}

export const endUsers = /* @__PURE__ */ resource<EndUsersCalls>({
  list: 'GET /v1/end-users *cursor',
  create: 'POST /v1/end-users !',
  get: 'GET /v1/end-users/{}',
  update: 'PATCH /v1/end-users/{} !',
  delete: 'DELETE /v1/end-users/{}',
})

export interface WebhooksCalls {
  /** List webhooks. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Webhook[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, Webhook>
  /** Create a webhook. */ create(body: { readonly name: string; readonly url: string; /** Event types to send; `*` for all. */ readonly events: readonly ("*" | "run.queued" | "run.started" | "run.requires_action" | "run.completed" | "run.failed" | "run.cancelled" | "run.expired" | "action.created" | "action.input_required" | "action.approved" | "action.rejected" | "action.executed" | "action.failed" | "action.expired" | "agent_version.created" | "agent_version.submitted" | "agent_version.published" | "agent_version.rejected" | "agent_version.deprecated" | "agent_version.retired" | "installation.created" | "installation.updated" | "installation.upgraded" | "installation.rolled_back" | "installation.disabled" | "tenant.created" | "tenant.updated" | "tenant.suspended" | "tenant.resumed" | "tenant.deleting" | "tenant.deleted" | "memory.write.succeeded" | "memory.write.failed" | "knowledge_source.synced" | "knowledge_source.failed" | "connection.expired" | "connection.recovered" | "mcp_server.tools_changed" | "mcp_server.failed" | "mcp_server.recovered" | "web.crawl.completed" | "web.crawl.failed" | "web.crawl.cancelled" | "web.browse.waiting" | "webhook.test")[]; readonly is_active?: boolean }, options?: CallOptions): Promise<WebhookShown>
  /** Retrieve a webhook. */ get(webhookId: string, options?: CallOptions): Promise<Webhook>
  /** Update a webhook. */ update(webhookId: string, body?: { readonly name?: string; readonly url?: string; /** Event types to send; `*` for all. */ readonly events?: readonly ("*" | "run.queued" | "run.started" | "run.requires_action" | "run.completed" | "run.failed" | "run.cancelled" | "run.expired" | "action.created" | "action.input_required" | "action.approved" | "action.rejected" | "action.executed" | "action.failed" | "action.expired" | "agent_version.created" | "agent_version.submitted" | "agent_version.published" | "agent_version.rejected" | "agent_version.deprecated" | "agent_version.retired" | "installation.created" | "installation.updated" | "installation.upgraded" | "installation.rolled_back" | "installation.disabled" | "tenant.created" | "tenant.updated" | "tenant.suspended" | "tenant.resumed" | "tenant.deleting" | "tenant.deleted" | "memory.write.succeeded" | "memory.write.failed" | "knowledge_source.synced" | "knowledge_source.failed" | "connection.expired" | "connection.recovered" | "mcp_server.tools_changed" | "mcp_server.failed" | "mcp_server.recovered" | "web.crawl.completed" | "web.crawl.failed" | "web.crawl.cancelled" | "web.browse.waiting" | "webhook.test")[]; readonly is_active?: boolean }, options?: CallOptions): Promise<Webhook>
  /** Delete a webhook. */ delete(webhookId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
  /** Rotate the secret of a webhook. */ rotate(webhookId: string, body?: { /** Seconds for which requests carry both signatures. */ readonly grace_s?: number }, options?: CallOptions): Promise<WebhookShown>
  /** Test a webhook. */ test(webhookId: string, options?: CallOptions): Promise<WebhookDelivery>
}

export const webhooks = /* @__PURE__ */ resource<WebhooksCalls>({
  list: 'GET /v1/webhooks *cursor',
  create: 'POST /v1/webhooks !',
  get: 'GET /v1/webhooks/{}',
  update: 'PATCH /v1/webhooks/{} !',
  delete: 'DELETE /v1/webhooks/{}',
  rotate: 'POST /v1/webhooks/{}/rotate !',
  test: 'POST /v1/webhooks/{}/test',
})

export interface WebhookDeliveriesCalls {
  /** List webhook deliveries. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly webhook_id?: string; readonly status?: "pending" | "delivered" | "failed"; readonly event_type?: "run.queued" | "run.started" | "run.requires_action" | "run.completed" | "run.failed" | "run.cancelled" | "run.expired" | "action.created" | "action.input_required" | "action.approved" | "action.rejected" | "action.executed" | "action.failed" | "action.expired" | "agent_version.created" | "agent_version.submitted" | "agent_version.published" | "agent_version.rejected" | "agent_version.deprecated" | "agent_version.retired" | "installation.created" | "installation.updated" | "installation.upgraded" | "installation.rolled_back" | "installation.disabled" | "tenant.created" | "tenant.updated" | "tenant.suspended" | "tenant.resumed" | "tenant.deleting" | "tenant.deleted" | "memory.write.succeeded" | "memory.write.failed" | "knowledge_source.synced" | "knowledge_source.failed" | "connection.expired" | "connection.recovered" | "mcp_server.tools_changed" | "mcp_server.failed" | "mcp_server.recovered" | "web.crawl.completed" | "web.crawl.failed" | "web.crawl.cancelled" | "web.browse.waiting" | "webhook.test" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly WebhookDelivery[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, WebhookDelivery>
  /** Retrieve a webhook delivery. */ get(deliveryId: string, options?: CallOptions): Promise<WebhookDeliveryWithLog>
  /** Replay a webhook delivery. */ replay(deliveryId: string, body?: { /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<WebhookDelivery>
}

export const webhookDeliveries = /* @__PURE__ */ resource<WebhookDeliveriesCalls>({
  list: 'GET /v1/webhook-deliveries *cursor',
  get: 'GET /v1/webhook-deliveries/{}',
  replay: 'POST /v1/webhook-deliveries/{}/replay !',
})

export interface ModelsCalls {
  /** List models. */ list(query?: { readonly provider?: string; readonly type?: string; readonly available?: boolean; readonly source?: "service" | "byok" | "custom"; readonly connection_id?: string }, options?: CallOptions): Promise<{ readonly object: "list"; readonly data: readonly Model[]; /** Providers of the models in `data`, in the order of their first models. */ readonly providers: readonly ListedProvider[] }>
  /** Retrieve a model. */ get(model: string, options?: CallOptions): Promise<Model>
}

export const models = /* @__PURE__ */ resource<ModelsCalls>({
  list: 'GET /v1/models ?',
  get: 'GET /v1/models/{}',
})

export interface ProviderConnectionsCalls {
  /** List provider connections. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly ProviderConnection[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, ProviderConnection>
  /** Create a provider connection. */ create(body: { readonly name: string; /** Id of a provider (`catalogue.providers`), or your own name for another server, which requires `base_url`. */ readonly provider: string; /** URL of the server up to the version segment. Default: the provider's own. */ readonly base_url?: string | null; /** Where a cloud serves the models of a connection. */ readonly settings?: { /** Azure OpenAI: name of the resource, the first label of its host. */ readonly resource?: string; /** Azure OpenAI: a dated version of the API, which calls deployments by their own URLs. Default: the v1 API. */ readonly api_version?: string; /** Azure OpenAI: name of the deployment of each model. Default: a deployment has the name of its model. */ readonly deployments?: { readonly [name: string]: string }; /** Amazon Bedrock: AWS region, such as `us-east-1`. */ readonly region?: string; /** Vertex AI: id of the Google Cloud project. */ readonly project_id?: string; /** Vertex AI: location, such as `us-central1` or `global`. */ readonly location?: string; /** Cloudflare: id of the account. */ readonly account_id?: string } | null; /** Whether requests are routed to the connection. */ readonly is_active?: boolean; /** Whether calls are retried with the installation's own key when the connection fails. */ readonly fallback_to_managed?: boolean; /** Your own prices, which replace the list prices in budgets and usage. Null for list prices. */ readonly prices?: { /** Price in USD per million input tokens. */ readonly input_per_million_usd?: string | null; /** Price in USD per million output tokens. */ readonly output_per_million_usd?: string | null; /** Price in USD per million cached input tokens. Default: the price of other input tokens. */ readonly cached_input_per_million_usd?: string | null; /** Price in USD per million characters converted to speech. */ readonly characters_per_million_usd?: string | null; /** Price in USD per minute of transcribed audio. */ readonly audio_minute_usd?: string | null; /** Price in USD per image. */ readonly image_usd?: string | null; /** Price in USD per call, in addition to its tokens. */ readonly call_usd?: string | null } | null; /** Timeout in milliseconds until the first byte of an answer. Default: that of the installation, 600,000. */ readonly first_byte_timeout_ms?: number | null; /** Timeout in milliseconds between bytes of an answer. Default: that of the installation, 120,000. */ readonly idle_timeout_ms?: number | null; /** API key for the provider. Stored encrypted and never shown. Required, unless `credentials` are given or the server needs none. */ readonly api_key?: string; /** Credentials that replace `api_key` at a cloud. Stored encrypted and never shown. */ readonly credentials?: ProviderCredentialsInput; /** API format of the server. Default: the provider's own, or `openai`. */ readonly api_format?: "openai" | "anthropic" | "google" | "perplexity" | "elevenlabs" | "deepgram" | "cartesia" | "spitch" | "azure" | "bedrock" | "vertex" }, options?: CallOptions): Promise<ProviderConnection>
  /** Retrieve a provider connection. */ get(connectionId: string, options?: CallOptions): Promise<ProviderConnection>
  /** Update a provider connection. */ update(connectionId: string, body?: { readonly name?: string; /** Id of a provider (`catalogue.providers`), or your own name for another server, which requires `base_url`. */ readonly provider?: string; /** URL of the server up to the version segment. Default: the provider's own. */ readonly base_url?: string | null; /** Where a cloud serves the models of a connection. */ readonly settings?: { /** Azure OpenAI: name of the resource, the first label of its host. */ readonly resource?: string; /** Azure OpenAI: a dated version of the API, which calls deployments by their own URLs. Default: the v1 API. */ readonly api_version?: string; /** Azure OpenAI: name of the deployment of each model. Default: a deployment has the name of its model. */ readonly deployments?: { readonly [name: string]: string }; /** Amazon Bedrock: AWS region, such as `us-east-1`. */ readonly region?: string; /** Vertex AI: id of the Google Cloud project. */ readonly project_id?: string; /** Vertex AI: location, such as `us-central1` or `global`. */ readonly location?: string; /** Cloudflare: id of the account. */ readonly account_id?: string } | null; /** Whether requests are routed to the connection. */ readonly is_active?: boolean; /** Whether calls are retried with the installation's own key when the connection fails. */ readonly fallback_to_managed?: boolean; /** Your own prices, which replace the list prices in budgets and usage. Null for list prices. */ readonly prices?: { /** Price in USD per million input tokens. */ readonly input_per_million_usd?: string | null; /** Price in USD per million output tokens. */ readonly output_per_million_usd?: string | null; /** Price in USD per million cached input tokens. Default: the price of other input tokens. */ readonly cached_input_per_million_usd?: string | null; /** Price in USD per million characters converted to speech. */ readonly characters_per_million_usd?: string | null; /** Price in USD per minute of transcribed audio. */ readonly audio_minute_usd?: string | null; /** Price in USD per image. */ readonly image_usd?: string | null; /** Price in USD per call, in addition to its tokens. */ readonly call_usd?: string | null } | null; /** Timeout in milliseconds until the first byte of an answer. Default: that of the installation, 600,000. */ readonly first_byte_timeout_ms?: number | null; /** Timeout in milliseconds between bytes of an answer. Default: that of the installation, 120,000. */ readonly idle_timeout_ms?: number | null; /** API key for the provider. Stored encrypted and never shown. Required, unless `credentials` are given or the server needs none. */ readonly api_key?: string; /** Credentials that replace `api_key` at a cloud. Stored encrypted and never shown. */ readonly credentials?: ProviderCredentialsInput; /** API format of the server. Default: the provider's own, or `openai`. */ readonly api_format?: "openai" | "anthropic" | "google" | "perplexity" | "elevenlabs" | "deepgram" | "cartesia" | "spitch" | "azure" | "bedrock" | "vertex" }, options?: CallOptions): Promise<ProviderConnection>
  /** Delete a provider connection. */ delete(connectionId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
  /** Validate a provider key. */ validate(body: { readonly name?: string; /** Id of a provider (`catalogue.providers`), or your own name for another server, which requires `base_url`. */ readonly provider: string; /** API format of the server. Default: the provider's own, or `openai`. */ readonly api_format?: "openai" | "anthropic" | "google" | "perplexity" | "elevenlabs" | "deepgram" | "cartesia" | "spitch" | "azure" | "bedrock" | "vertex"; /** URL of the server up to the version segment. Default: the provider's own. */ readonly base_url?: string | null; /** Where a cloud serves the models of a connection. */ readonly settings?: { /** Azure OpenAI: name of the resource, the first label of its host. */ readonly resource?: string; /** Azure OpenAI: a dated version of the API, which calls deployments by their own URLs. Default: the v1 API. */ readonly api_version?: string; /** Azure OpenAI: name of the deployment of each model. Default: a deployment has the name of its model. */ readonly deployments?: { readonly [name: string]: string }; /** Amazon Bedrock: AWS region, such as `us-east-1`. */ readonly region?: string; /** Vertex AI: id of the Google Cloud project. */ readonly project_id?: string; /** Vertex AI: location, such as `us-central1` or `global`. */ readonly location?: string; /** Cloudflare: id of the account. */ readonly account_id?: string } | null; /** API key for the provider. Stored encrypted and never shown. Required, unless `credentials` are given or the server needs none. */ readonly api_key?: string; /** Credentials that replace `api_key` at a cloud. Stored encrypted and never shown. */ readonly credentials?: ProviderCredentialsInput }, options?: CallOptions): Promise<ProviderValidation>
  /** Test a provider connection. */ test(connectionId: string, options?: CallOptions): Promise<ProviderTest>
}

export const providerConnections = /* @__PURE__ */ resource<ProviderConnectionsCalls>({
  list: 'GET /v1/provider-connections *cursor',
  create: 'POST /v1/provider-connections !',
  get: 'GET /v1/provider-connections/{}',
  update: 'PATCH /v1/provider-connections/{} !',
  delete: 'DELETE /v1/provider-connections/{}',
  validate: 'POST /v1/provider-connections/validate !',
  test: 'POST /v1/provider-connections/{}/test',
})

export interface ModelSyncsCalls {
  /** Create a model sync. */ create(connectionId: string, options?: CallOptions): Promise<ModelSync>
  /** Retrieve a model sync. */ get(connectionId: string, syncId: string, options?: CallOptions): Promise<ModelSync>
  /** Apply a model sync. */ apply(connectionId: string, syncId: string, options?: CallOptions): Promise<ModelSync>
}

export const modelSyncs = /* @__PURE__ */ resource<ModelSyncsCalls>({
  create: 'POST /v1/provider-connections/{}/model-syncs',
  get: 'GET /v1/provider-connections/{}/model-syncs/{}',
  apply: 'POST /v1/provider-connections/{}/model-syncs/{}/apply',
})

export interface AiChatCalls {
  /** Chat with a model. */ create(body: AiChatRequestInput & { readonly stream: true }, options?: CallOptions): Promise<Response>
  /** Chat with a model. */ create(body: AiChatRequestInput, options?: CallOptions): Promise<AiChatResult>
}

export const aiChat = /* @__PURE__ */ resource<AiChatCalls>({
  create: 'POST /api/ai/chat !',
})

export interface ResponsesCalls {
  /** Create a response. */ create(body: ResponseRequestInput & { readonly stream: true }, options?: CallOptions): Promise<Response>
  /** Create a response. */ create(body: ResponseRequestInput, options?: CallOptions): Promise<ModelResponse>
  /** Retrieve a stored response. */ get(responseId: string, query?: { readonly stream?: boolean; /** Sequence number of an event. The stream starts after it. */ readonly starting_after?: number }, options?: CallOptions): Promise<ModelResponse | Response>
  /** Cancel a background response. */ cancel(responseId: string, options?: CallOptions): Promise<ModelResponse>
  /** Count the input tokens of a response. */ inputTokens(body?: ResponseTokensRequestInput, options?: CallOptions): Promise<ResponseTokens>
  /** Compact a conversation. */ compact(body: CompactionRequestInput, options?: CallOptions): Promise<Compaction>
  /** Delete a stored response. */ delete(responseId: string, options?: CallOptions): Promise<{ readonly id: string; readonly object: "response"; readonly deleted: true }>
  /** List the input items of a stored response. */ inputItems(responseId: string, query?: { readonly limit?: number; readonly order?: "asc" | "desc"; readonly after?: string }, options?: CallOptions): Pages<ModelResponseInputItems, ResponseItem>
}

export const responses = /* @__PURE__ */ resource<ResponsesCalls>({
  create: 'POST /v1/responses !',
  get: 'GET /v1/responses/{} ?',
  cancel: 'POST /v1/responses/{}/cancel',
  inputTokens: 'POST /v1/responses/input_tokens !',
  compact: 'POST /v1/responses/compact !',
  delete: 'DELETE /v1/responses/{}',
  inputItems: 'GET /v1/responses/{}/input_items *after',
})

export interface ConversationsCalls {
  /** Create a conversation. */ create(body?: ConversationRequestInput, options?: CallOptions): Promise<ModelConversation>
  /** Retrieve a conversation. */ get(conversationId: string, options?: CallOptions): Promise<ModelConversation>
  /** Update the metadata of a conversation. */ update(conversationId: string, body?: { readonly metadata?: { readonly [name: string]: string } | null }, options?: CallOptions): Promise<ModelConversation>
  /** Delete a conversation. */ delete(conversationId: string, options?: CallOptions): Promise<{ readonly id: string; readonly object: "conversation.deleted"; readonly deleted: true }>
}

export const conversations = /* @__PURE__ */ resource<ConversationsCalls>({
  create: 'POST /v1/conversations !',
  get: 'GET /v1/conversations/{}',
  update: 'POST /v1/conversations/{} !',
  delete: 'DELETE /v1/conversations/{}',
})

export interface ConversationItemsCalls {
  /** Add items to a conversation. */ add(conversationId: string, body: { readonly items: readonly ({ readonly [name: string]: unknown })[] }, options?: CallOptions): Promise<ModelConversationItems>
  /** List the items of a conversation. */ list(conversationId: string, query?: { readonly limit?: number; readonly order?: "asc" | "desc"; readonly after?: string }, options?: CallOptions): Pages<ModelConversationItems, ModelConversationItem>
  /** Retrieve an item of a conversation. */ get(conversationId: string, itemId: string, options?: CallOptions): Promise<ModelConversationItem>
  /** Delete an item of a conversation. */ delete(conversationId: string, itemId: string, options?: CallOptions): Promise<ModelConversation>
}

export const conversationItems = /* @__PURE__ */ resource<ConversationItemsCalls>({
  add: 'POST /v1/conversations/{}/items !',
  list: 'GET /v1/conversations/{}/items *after',
  get: 'GET /v1/conversations/{}/items/{}',
  delete: 'DELETE /v1/conversations/{}/items/{}',
})

export interface MessagesCalls {
  /** Create a message. */ create(body: MessageRequestInput & { readonly stream: true }, options?: CallOptions): Promise<Response>
  /** Create a message. */ create(body: MessageRequestInput, options?: CallOptions): Promise<Message>
  /** Count the tokens of a message. */ countTokens(body: MessageCountRequestInput, options?: CallOptions): Promise<{ readonly input_tokens: number }>
}

export const messages = /* @__PURE__ */ resource<MessagesCalls>({
  create: 'POST /v1/messages !',
  countTokens: 'POST /v1/messages/count_tokens !',
})

export interface SpeechCalls {
  /** Create speech. */ speak(body: { readonly input: string; /** Model id, or `provider/model`. `auto` chooses the fastest model of your own keys. */ readonly model?: string; readonly voice?: string; readonly response_format?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm"; readonly responseFormat?: "mp3" | "opus" | "aac" | "flac" | "wav" | "pcm"; readonly speed?: number; readonly temperature?: number; readonly language?: string; readonly instructions?: string; readonly stream?: boolean; /** `sse` sends the audio as events with base64: `speech.audio.delta`, then `speech.audio.done`. */ readonly stream_format?: "audio" | "sse" }, options?: CallOptions): Promise<Response>
}

export const speech = /* @__PURE__ */ resource<SpeechCalls>({
  speak: 'POST /v1/audio/speech !',
})

export interface TranscriptionsCalls {
  /** Create a transcription. */ transcribe(body: FormData, options?: CallOptions): Promise<Transcript | Response>
  /** Create a translation. */ translate(body: FormData, options?: CallOptions): Promise<Transcript | Response>
}

export const transcriptions = /* @__PURE__ */ resource<TranscriptionsCalls>({
  transcribe: 'POST /v1/audio/transcriptions !',
  translate: 'POST /v1/audio/translations !',
})

export interface ChatCompletionsCalls {
  /** Create a chat completion. */ create(body: { readonly model: string; readonly messages: readonly ChatMessageInput[]; readonly models?: readonly string[]; readonly stream?: boolean | null; readonly stream_options?: { readonly include_usage?: boolean | null } | null; readonly temperature?: number | null; readonly max_tokens?: number | null; readonly max_completion_tokens?: number | null; readonly n?: number | null; readonly tools?: readonly (ChatFunctionToolInput | ChatCustomToolInput | OtherChatToolInput)[] | null; readonly tool_choice?: "none" | "auto" | "required" | ChatFunctionChoiceInput | ChatAllowedToolsInput | string | { readonly [name: string]: unknown } | null; readonly response_format?: ChatPlainFormatInput | ChatSchemaFormatInput | OtherResponseFormatInput; /** Nucleus sampling, from 0 to 1. */ readonly top_p?: number | null; readonly stop?: string | readonly string[] | null; readonly seed?: number | null; readonly user?: string | null; readonly parallel_tool_calls?: boolean | null; /** Amount of reasoning, such as `low`, `medium` or `high`. */ readonly reasoning_effort?: string | null; readonly memory?: boolean | ChatMemoryInput | null } & { readonly stream: true }, options?: CallOptions): Promise<Response>
  /** Create a chat completion. */ create(body: { readonly model: string; readonly messages: readonly ChatMessageInput[]; readonly models?: readonly string[]; readonly stream?: boolean | null; readonly stream_options?: { readonly include_usage?: boolean | null } | null; readonly temperature?: number | null; readonly max_tokens?: number | null; readonly max_completion_tokens?: number | null; readonly n?: number | null; readonly tools?: readonly (ChatFunctionToolInput | ChatCustomToolInput | OtherChatToolInput)[] | null; readonly tool_choice?: "none" | "auto" | "required" | ChatFunctionChoiceInput | ChatAllowedToolsInput | string | { readonly [name: string]: unknown } | null; readonly response_format?: ChatPlainFormatInput | ChatSchemaFormatInput | OtherResponseFormatInput; /** Nucleus sampling, from 0 to 1. */ readonly top_p?: number | null; readonly stop?: string | readonly string[] | null; readonly seed?: number | null; readonly user?: string | null; readonly parallel_tool_calls?: boolean | null; /** Amount of reasoning, such as `low`, `medium` or `high`. */ readonly reasoning_effort?: string | null; readonly memory?: boolean | ChatMemoryInput | null }, options?: CallOptions): Promise<ChatCompletion>
}

export const chatCompletions = /* @__PURE__ */ resource<ChatCompletionsCalls>({
  create: 'POST /v1/chat/completions !',
})

export interface EmbeddingsCalls {
  /** Create embeddings. */ create(body: { readonly model: string; readonly input: string | readonly string[] | readonly number[] | readonly (readonly number[])[]; readonly models?: readonly string[]; readonly dimensions?: number | null; readonly encoding_format?: "float" | "base64" | null; readonly user?: string | null }, options?: CallOptions): Promise<EmbeddingList>
}

export const embeddings = /* @__PURE__ */ resource<EmbeddingsCalls>({
  create: 'POST /v1/embeddings !',
})

export interface ModerationsCalls {
  /** Classify content. */ create(body: { readonly model?: string; readonly input: string | readonly (string | { readonly [name: string]: unknown })[] }, options?: CallOptions): Promise<Moderation>
}

export const moderations = /* @__PURE__ */ resource<ModerationsCalls>({
  create: 'POST /v1/moderations !',
})

export interface CompletionsCalls {
  /** Create a legacy completion. */ create(body: { readonly model: string; /** One text, or several that are each completed. */ readonly prompt: string | readonly string[]; readonly max_tokens?: number }, options?: CallOptions): Promise<Completion>
}

export const completions = /* @__PURE__ */ resource<CompletionsCalls>({
  create: 'POST /v1/completions !',
})

export interface RerankCalls {
  /** Rank documents by a query. */ create(body: { readonly model: string; readonly query: string; readonly documents: readonly (string | { readonly [name: string]: unknown })[]; readonly top_n?: number }, options?: CallOptions): Promise<Reranking>
}

export const rerank = /* @__PURE__ */ resource<RerankCalls>({
  create: 'POST /v1/rerank !',
})

export interface ImagesCalls {
  /** Generate images. */ generate(body: { readonly model: string; /** Description of the images. */ readonly prompt: string; /** Number of images. Default: 1. */ readonly n?: number | null; /** Width and height in pixels, such as `1024x1024`. */ readonly size?: string | null; readonly quality?: string | null; readonly response_format?: "b64_json" | "url" | null }, options?: CallOptions): Promise<Images>
}

export const images = /* @__PURE__ */ resource<ImagesCalls>({
  generate: 'POST /v1/images/generations !',
})

export interface VisionCalls {
  /** Analyze images. */ analyze(body: VisionAnalyzeRequestInput | FormData, options?: CallOptions): Promise<VisionResult | Response>
  /** Describe images. */ describe(body: VisionAnalyzeRequestInput | FormData, options?: CallOptions): Promise<VisionDescription | Response>
  /** Extract text from images. */ ocr(body: VisionAnalyzeRequestInput | FormData, options?: CallOptions): Promise<VisionText | Response>
  /** Classify images. */ classify(body: VisionAnalyzeRequestInput | FormData, options?: CallOptions): Promise<VisionClassification | Response>
}

export const vision = /* @__PURE__ */ resource<VisionCalls>({
  analyze: 'POST /v1/vision !',
  describe: 'POST /v1/vision/describe !',
  ocr: 'POST /v1/vision/ocr !',
  classify: 'POST /v1/vision/classify !',
})

export interface RequestLogCalls {
  /** List the entries of the request log. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly model?: string; readonly provider?: string; readonly operation?: string; readonly tenant_id?: string; readonly external_user_id?: string; readonly key_id?: string; readonly error?: string; readonly status?: number; /** `true`: failed requests only. `false`: successful requests only. */ readonly failed?: boolean; /** Start of the time range, inclusive. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly from?: string; /** End of the time range, exclusive. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly to?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly RequestLogLine[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, RequestLogLine>
  /** Retrieve an entry of the request log. */ get(requestId: string, options?: CallOptions): Promise<RequestLogEntry>
}

export const requestLog = /* @__PURE__ */ resource<RequestLogCalls>({
  list: 'GET /v1/request-log *cursor',
  get: 'GET /v1/request-log/{}',
})

export interface RequestLogSettingsCalls {
  /** Retrieve the settings of the request log. */ get(options?: CallOptions): Promise<RequestLogSettings>
  /** Update the settings of the request log. */ put(body?: RequestLogSettingsInput, options?: CallOptions): Promise<RequestLogSettings>
}

export const requestLogSettings = /* @__PURE__ */ resource<RequestLogSettingsCalls>({
  get: 'GET /v1/request-log-settings',
  put: 'PUT /v1/request-log-settings !',
})

export interface LimitsCalls {
  /** List limits. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; /** Subject whose calls are limited. */ readonly subject?: "project" | "tenant" | "key"; readonly subject_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Limit[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, Limit>
  /** Create or replace a limit. */ create(body: { /** Subject whose calls are limited. */ readonly subject: "project" | "tenant" | "key"; /** Id of the tenant or key. Null for the project. */ readonly subject_id?: string | null; /** Maximum number of requests in any 60 seconds (sliding window). */ readonly requests_per_minute?: number | null; /** Maximum number of input and output tokens in any 60 seconds (sliding window). A call holds an estimate of its input and its longest answer until it ends, so that all calls together exceed the limit by at most one call. An answer without a limit of its own may be limited to an eighth of what is left, but at least to 4,096 tokens; the header `x-max-tokens-limited` says so. */ readonly tokens_per_minute?: number | null; /** Budget per day (UTC) in USD. */ readonly budget_day_usd?: string | null; /** Budget per calendar month (UTC) in USD. */ readonly budget_month_usd?: string | null; /** Total budget in USD that never resets, counted from its creation. */ readonly budget_total_usd?: string | null }, options?: CallOptions): Promise<Limit>
  /** Retrieve a limit. */ get(limitId: string, options?: CallOptions): Promise<Limit>
  /** Delete a limit. */ delete(limitId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
}

export const limits = /* @__PURE__ */ resource<LimitsCalls>({
  list: 'GET /v1/limits *cursor',
  create: 'POST /v1/limits !',
  get: 'GET /v1/limits/{}',
  delete: 'DELETE /v1/limits/{}',
})

export interface CreditsCalls {
  /** Retrieve the organisation's credits. */ get(options?: CallOptions): Promise<Credits>
}

export const credits = /* @__PURE__ */ resource<CreditsCalls>({
  get: 'GET /v1/credits',
})

export interface RedactionPolicyCalls {
  /** Retrieve the redaction policy. */ get(options?: CallOptions): Promise<RedactionPolicy>
  /** Update the redaction policy. */ update(body?: { /** Whether requests to providers are redacted. Enabled by default in new projects. Logs are always redacted. */ readonly enabled?: boolean; /** Kinds of personal data that are replaced by placeholders in requests to providers. `name` is off by default: names of people are detected with a dictionary and the surrounding words, which misses many. */ readonly types?: readonly ("email" | "phone" | "payment_card" | "iban" | "us_ssn" | "national_id" | "ip_address" | "url_credentials" | "secret" | "name")[]; /** `input`: texts of messages and of documents. `tool_arguments`: arguments of tool calls. `embeddings` and `speech`: texts to embed or to speak, off by default because nothing can be restored in a vector or a sound; an answer made from such a text without redaction has the header `x-redaction: off`. `logs`: the request log, always. */ readonly apply_to?: readonly ("input" | "tool_arguments" | "embeddings" | "speech" | "logs")[]; /** Whether placeholders in the answer are replaced by the original values. */ readonly restore?: boolean; /** Country of phone numbers without a country prefix, as an ISO 3166-1 alpha-2 code. */ readonly phone_region?: string }, options?: CallOptions): Promise<RedactionPolicy>
}

export const redactionPolicy = /* @__PURE__ */ resource<RedactionPolicyCalls>({
  get: 'GET /v1/redaction-policy',
  update: 'PATCH /v1/redaction-policy !',
})

export interface BatchesCalls {
  /** Create a batch. */ create(body: { readonly input_file_id: string; readonly endpoint: "/v1/chat/completions" | "/v1/responses" | "/v1/embeddings"; /** Time after which requests that have not been made are given up, such as `24h`; at most `7d`. */ readonly completion_window: string; readonly metadata?: { readonly [name: string]: string } | null }, options?: CallOptions): Promise<Batch>
  /** List batches. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Order by time of creation. Default: `desc`. */ readonly order?: "asc" | "desc"; /** Id of the last item of the previous page. Default: the first page. */ readonly after?: string }, options?: CallOptions): Pages<{ readonly object: "list"; /** Items of this page. */ readonly data: readonly Batch[]; readonly first_id: string | null; readonly last_id: string | null; /** Whether there are more items after this page. */ readonly has_more: boolean }, Batch>
  /** Retrieve a batch. */ get(batchId: string, options?: CallOptions): Promise<Batch>
  /** Cancel a batch. */ cancel(batchId: string, options?: CallOptions): Promise<Batch>
}

export const batches = /* @__PURE__ */ resource<BatchesCalls>({
  create: 'POST /v1/batches !',
  list: 'GET /v1/batches *after',
  get: 'GET /v1/batches/{}',
  cancel: 'POST /v1/batches/{}/cancel',
})

export interface UsageCalls {
  /** Summarize usage. */ summary(query?: { /** Number of days before `to`. Default: 30, unless `from` is given. */ readonly days?: number; /** Start of the time range, inclusive. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly from?: string; /** End of the time range, exclusive. Default: now. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly to?: string; readonly tenant_id?: string; readonly agent_id?: string; readonly installation_id?: string; readonly external_user_id?: string; readonly model?: string; readonly operation?: "session.turn" | "run" | "agent_version.test" | "chat" | "vision" | "embedding" | "speech" | "transcription" | "image" | "memory"; readonly group_by?: readonly ("tenant" | "agent" | "installation" | "user" | "provider" | "model" | "key" | "operation" | "day")[] }, options?: CallOptions): Promise<{ readonly from: string; readonly to: string; readonly group_by: readonly ("tenant" | "agent" | "installation" | "user" | "provider" | "model" | "key" | "operation" | "day")[]; readonly data: readonly UsageGroup[]; /** Totals over all groups. */ readonly totals: UsageTotals }>
  /** List usage events. */ events(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly tenant_id?: string; readonly agent_id?: string; readonly installation_id?: string; readonly external_user_id?: string; readonly model?: string; readonly operation?: "session.turn" | "run" | "agent_version.test" | "chat" | "vision" | "embedding" | "speech" | "transcription" | "image" | "memory"; /** Start of the time range, inclusive. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly from?: string; /** End of the time range, exclusive. Default: now. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly to?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly UsageRow[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, UsageRow>
  /** Export an invoice. */ export(query?: { /** Number of days before `to`. Default: 30, unless `from` is given. */ readonly days?: number; /** Start of the time range, inclusive. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly from?: string; /** End of the time range, exclusive. Default: now. A date such as 2026-01-31 means midnight UTC at the start of that day. */ readonly to?: string; readonly tenant_id?: string; readonly agent_id?: string; readonly installation_id?: string; readonly format?: "json" | "csv"; /** Rate plan to use instead of the default plan. */ readonly rate_plan_id?: string }, options?: CallOptions): Promise<Invoice | Response>
}

export const usage = /* @__PURE__ */ resource<UsageCalls>({
  summary: 'GET /v1/usage ?',
  events: 'GET /v1/usage/events *cursor',
  export: 'GET /v1/usage/export ?',
})

export interface RatePlansCalls {
  /** List rate plans. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly RatePlan[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, RatePlan>
  /** Create a rate plan. */ create(body: { readonly name: string; readonly description?: string | null; /** Markup on the service charge, in percent. */ readonly markup_percent?: string; /** Another name of `markup_percent`. Responses contain both; a request that contains both with different values is refused. */ readonly markup_percentage?: string; /** Price in USD per million input tokens, in addition to the service charge. */ readonly input_per_million_usd?: string; /** Price in USD per million output tokens, in addition to the service charge. */ readonly output_per_million_usd?: string; /** Price in USD per model call. */ readonly per_call_usd?: string; /** Whether the plan applies to usage that has no other plan. If several plans are default plans, the newest applies. */ readonly is_default?: boolean }, options?: CallOptions): Promise<RatePlan>
}

export const ratePlans = /* @__PURE__ */ resource<RatePlansCalls>({
  list: 'GET /v1/rate-plans *cursor',
  create: 'POST /v1/rate-plans !',
})

export interface MemoryCalls {
  /** Write a memory. */ write(body: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Alias of `userId`. */ readonly user?: string; /** Text to remember. Only the first 10 KB are searchable; longer text is stored, and the response contains a warning. */ readonly content: string; /** Weight from 0 to 1. Default: 0.5. */ readonly importance?: number; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Who said it, in a conversation of several people. A query that names a speaker ranks what that speaker said first. */ readonly speaker?: string; readonly observed_at?: string; readonly valid_from?: string; readonly valid_to?: string; /** Whether the memory belongs to the profile that every recall starts with. */ readonly pinned?: boolean; /** Facts in the content. They are stored as given, without a model call. */ readonly facts?: readonly MemoryFactInput[]; /** `user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search. */ readonly scope?: "user" | "session"; /** Session that the memory belongs to. */ readonly sessionId?: string; /** Partition of the memory of a user. */ readonly namespace?: string; /** Whether to wait until the embedding of the memory has been computed. Default: false. */ readonly wait?: boolean; /** If true, nothing is stored, and the response shows what would be stored. */ readonly dry_run?: boolean }, options?: CallOptions): Promise<{ readonly id: string; readonly duplicate?: true; /** Memories whose facts this one superseded. */ readonly superseded: readonly string[]; readonly redacted: readonly string[]; /** `instructions`: the content seems to contain instructions to a model. It is found by searches, but never given to a model. */ readonly flags: readonly "instructions"[]; /** Cost of model calls and embeddings of this request in USD. */ readonly costUsd: number; /** Model that was called; null when none was. */ readonly model: string | null; /** Provider that answered; null when none was called. */ readonly provider: string | null; /** Whether the embedding of the memory has been computed. */ readonly embedding: "done" | "pending" | "none"; readonly warnings: readonly string[] }>
  /** Write up to 50 memories. */ writeBatch(body: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Alias of `userId`. */ readonly user?: string; /** `user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search. */ readonly scope?: "user" | "session"; /** Session that the memory belongs to. */ readonly sessionId?: string; /** Partition of the memory of a user. */ readonly namespace?: string; /** Whether to wait until the embedding of the memory has been computed. Default: false. */ readonly wait?: boolean; /** If true, nothing is stored, and the response shows what would be stored. */ readonly dry_run?: boolean; readonly memories: readonly ({ /** Text to remember. Only the first 10 KB are searchable; longer text is stored, and the response contains a warning. */ readonly content: string; /** Weight from 0 to 1. Default: 0.5. */ readonly importance?: number; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Who said it, in a conversation of several people. A query that names a speaker ranks what that speaker said first. */ readonly speaker?: string; readonly observed_at?: string; readonly valid_from?: string; readonly valid_to?: string; /** Whether the memory belongs to the profile that every recall starts with. */ readonly pinned?: boolean; /** Facts in the content. They are stored as given, without a model call. */ readonly facts?: readonly MemoryFactInput[]; /** `user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search. */ readonly scope?: "user" | "session"; /** Session that the memory belongs to. */ readonly sessionId?: string; /** Partition of the memory of a user. */ readonly namespace?: string })[] }, options?: CallOptions): Promise<{ /** One per item, in order: its id, or the error because of which it was not stored. */ readonly memories: readonly ({ readonly id: string; /** Whether the memory was already stored; `id` is then that of the stored memory. */ readonly duplicate?: true; /** `instructions`: the content seems to contain instructions to a model. It is found by searches, but never given to a model. */ readonly flags?: readonly "instructions"[] } | { readonly error: { readonly code: string; readonly message: string; readonly param?: string } })[]; /** Cost of model calls and embeddings of this request in USD. */ readonly costUsd: number; /** Model that was called; null when none was. */ readonly model: string | null; /** Provider that answered; null when none was called. */ readonly provider: string | null; /** Whether the embedding of the memory has been computed. */ readonly embedding: "done" | "pending" | "none"; readonly warnings: readonly string[] }>
  /** Search memories. */ search(body: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Alias of `userId`. */ readonly user?: string; /** `user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search. */ readonly scope?: "user" | "session"; /** Session that the memory belongs to. */ readonly sessionId?: string; /** Partition of the memory of a user. */ readonly namespace?: string; readonly query: string; readonly topK?: number; /** Minimum score of a hit. With 0, every hit is returned. If no hit reaches it, `abstained` is true. */ readonly threshold?: number; /** Time as of which memories are searched. */ readonly asOf?: string; /** Whether to follow relations as well, which adds at most 3 hits to `topK`. */ readonly graph?: boolean; /** `index` returns a one-line summary in place of each content. */ readonly mode?: "inject" | "index"; /** Whether to return the parts of each score, and what was left out and why. */ readonly explain?: boolean }, options?: CallOptions): Promise<{ readonly results: readonly MemoryHit[]; /** True if no stored memory answers the query. */ readonly abstained: boolean; readonly embedder: string | null; /** With `explain`, close memories that are not among the results: `below_threshold`, `beyond_limit`, `other_namespace`, `other_session`, `other_scope`, `no_longer_valid` or `not_yet_valid`. */ readonly left_out?: readonly ({ readonly id: string; readonly reason: string; readonly score?: number })[]; /** Cost of model calls and embeddings of this request in USD. */ readonly costUsd: number; /** Model that was called; null when none was. */ readonly model: string | null; /** Provider that answered; null when none was called. */ readonly provider: string | null }>
  /** List a user's memories. */ list(query?: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Alias of `userId`. */ readonly user?: string; /** `user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search. */ readonly scope?: "user" | "session"; /** Session that the memory belongs to. */ readonly sessionId?: string; /** Partition of the memory of a user. */ readonly namespace?: string; /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `nextCursor` of the previous page. Default: the first page. */ readonly cursor?: string; /** Include memories that newer facts have superseded. */ readonly superseded?: boolean }, options?: CallOptions): Pages<{ readonly memories: readonly Memory[]; /** Number of memories on this page. */ readonly count: number; readonly nextCursor: string | null }, Memory>
  /** Retrieve a memory. */ get(memoryId: string, options?: CallOptions): Promise<Memory>
  /** Update a memory. */ update(memoryId: string, body?: { readonly content?: string; readonly importance?: number; readonly metadata?: { readonly [name: string]: unknown }; /** Partition of the memory of a user. */ readonly namespace?: string | null; readonly observed_at?: string; readonly valid_from?: string | null; readonly valid_to?: string | null; readonly pinned?: boolean }, options?: CallOptions): Promise<Memory>
  /** Delete a memory. */ delete(memoryId: string, options?: CallOptions): Promise<{ readonly id: string; readonly deleted: true }>
  /** Retrieve the history of a memory. */ history(memoryId: string, options?: CallOptions): Promise<{ readonly id: string; readonly history: readonly ({ readonly id: string; readonly content: string; readonly valid_from: string | null; readonly valid_to: string | null; /** Time at which the content was written. */ readonly at: string; readonly event: "written" | "changed" | "superseded" })[] }>
  /** Remember an exchange. */ remember(body: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** `user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search. */ readonly scope?: "user" | "session"; /** Session that the memory belongs to. */ readonly sessionId?: string; /** Partition of the memory of a user. */ readonly namespace?: string; /** What the user said. */ readonly user: string; /** What the assistant replied. */ readonly assistant?: string; /** Weight from 0 to 1. Default: 0.5. */ readonly importance?: number; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; readonly observed_at?: string; /** Facts in the content. They are stored as given, without a model call. */ readonly facts?: readonly MemoryFactInput[]; readonly extract?: { /** Model that extracts the facts. */ readonly model?: string; readonly prompt?: string; readonly minImportance?: number }; /** Whether to wait until the exchange has been remembered. If false, the response is sent immediately and contains the receipt. */ readonly wait?: boolean; /** If true, nothing is stored, and the response shows what would be stored. */ readonly dry_run?: boolean }, options?: CallOptions): Promise<{ /** Id of the receipt; null for a dry run. */ readonly request_id: string | null; readonly status: "pending" | "success" | "error"; /** Number of facts that were found. */ readonly extracted?: number; /** Number of memories that were stored. */ readonly written?: number; readonly memories?: readonly ({ readonly id: string; /** Whether the memory was already stored; `id` is then that of the stored memory. */ readonly duplicate?: true })[]; /** Extractor that was used. */ readonly extractor?: "given" | "rules" | "model"; readonly error?: { readonly code: string; readonly message: string }; /** Cost of model calls and embeddings of this request in USD. */ readonly costUsd: number; /** Model that was called; null when none was. */ readonly model: string | null; /** Provider that answered; null when none was called. */ readonly provider: string | null; /** Facts that a dry run would store. */ readonly facts?: readonly MemoryFact[] }>
  /** Retrieve the receipt of a write. */ receipt(requestId: string, options?: CallOptions): Promise<MemoryReceipt>
  /** Walk the relations of an entity. */ graph(query?: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Name of the first entity. Required. */ readonly entity?: string; /** Maximum number of relations between the entity and a result. */ readonly hops?: number }, options?: CallOptions): Promise<{ readonly seed: string; readonly nodes: readonly ({ readonly name: string; readonly hops: number; readonly path: readonly string[] })[]; readonly edges: readonly ({ readonly source: string; readonly relation: string; readonly target: string })[] }>
  /** Remember an exchange as graph relations. */ graphRemember(body: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** `user` memories persist; `session` memories belong to `sessionId` and end with it. Default: `user`, or `session` with a `sessionId` and no scope in a search. */ readonly scope?: "user" | "session"; /** Session that the memory belongs to. */ readonly sessionId?: string; /** Partition of the memory of a user. */ readonly namespace?: string; /** What the user said. */ readonly user: string; /** What the assistant replied. */ readonly assistant?: string; /** Weight from 0 to 1. Default: 0.5. */ readonly importance?: number; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; readonly observed_at?: string; /** Facts in the content. They are stored as given, without a model call. */ readonly facts?: readonly MemoryFactInput[]; readonly extract?: { /** Model that extracts the facts. */ readonly model?: string; readonly prompt?: string; readonly minImportance?: number }; /** Whether to wait until the exchange has been remembered. If false, the response is sent immediately and contains the receipt. */ readonly wait?: boolean; /** If true, nothing is stored, and the response shows what would be stored. */ readonly dry_run?: boolean }, options?: CallOptions): Promise<{ /** Id of the receipt; null for a dry run. */ readonly request_id: string | null; readonly status: "pending" | "success" | "error"; /** Number of facts that were found. */ readonly extracted?: number; /** Number of memories that were stored. */ readonly written?: number; readonly memories?: readonly ({ readonly id: string; /** Whether the memory was already stored; `id` is then that of the stored memory. */ readonly duplicate?: true })[]; /** Extractor that was used. */ readonly extractor?: "given" | "rules" | "model"; readonly error?: { readonly code: string; readonly message: string }; /** Cost of model calls and embeddings of this request in USD. */ readonly costUsd: number; /** Model that was called; null when none was. */ readonly model: string | null; /** Provider that answered; null when none was called. */ readonly provider: string | null; /** Facts that a dry run would store. */ readonly facts?: readonly MemoryFact[] }>
  /** List the entities of a user's memories. */ entities(query?: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; readonly limit?: number }, options?: CallOptions): Promise<{ readonly entities: readonly ({ readonly name: string; readonly relations: number })[] }>
  /** Import memories. */ import(body?: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; readonly memories?: readonly ({ readonly [name: string]: unknown })[]; readonly results?: readonly ({ readonly [name: string]: unknown })[]; /** Edges of a Mem0 graph (`source`, `relationship`, `target`); each becomes a memory with one fact. */ readonly relations?: readonly ({ readonly [name: string]: unknown })[]; /** Ignored, so that a page of an export can be sent unchanged. */ readonly nextCursor?: unknown; /** Ignored, so that a page of an export can be sent unchanged. */ readonly truncated?: unknown; /** Ignored, so that a page of an export can be sent unchanged. */ readonly count?: unknown; /** Ignored, so that a page of an export can be sent unchanged. */ readonly next?: unknown; /** Ignored, so that a page of an export can be sent unchanged. */ readonly previous?: unknown }, options?: CallOptions): Promise<{ readonly imported: number; readonly duplicates: number; readonly memories: readonly ({ readonly id: string; /** Whether the memory was already stored; `id` is then that of the stored memory. */ readonly duplicate?: true })[]; readonly warnings: readonly string[] }>
  /** List candidates for forgetting. */ forgetSuggestions(query?: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Minimum number of days without a hit. */ readonly minIdleDays?: number; readonly limit?: number }, options?: CallOptions): Promise<{ readonly suggestions: readonly ({ readonly id: string; readonly content: string; /** Strength of the memory; 0 is the weakest. */ readonly strength: number; readonly idle_days: number; readonly reason: "superseded" | "expired" | "unused" | "unimportant" })[] }>
  /** Forget memories by filter. */ forget(body?: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Only memories that were written before this time. */ readonly before?: string; readonly namespace?: string; readonly sessionId?: string; readonly ids?: readonly string[]; readonly dry_run?: boolean }, options?: CallOptions): Promise<{ readonly forgotten: number; readonly truncated: boolean; readonly receipt: { readonly at: string; /** Every place where memories are stored, with the number of items that were removed there. */ readonly surfaces: readonly ({ readonly surface: string; readonly removed: number })[]; /** What is left in the files of the store. `overwritten`: the removed bytes were overwritten and the write-ahead log was emptied. `pending`: this follows, because another process reads the file or a write is still being stopped. `reused_later`: MongoDB removed the documents, and overwrites their space in its files and its journal as it reuses them. `unchanged`: a dry run. */ readonly files: "overwritten" | "pending" | "reused_later" | "unchanged" } }>
  /** Export a user's memories. */ export(body?: { /** Your own id of the end user. Required unless `X-External-User-Id` names the user. With `X-Tenant-Id` the user is of that tenant. */ readonly userId?: string; /** Where the page starts: `nextCursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly limit?: number }, options?: CallOptions): Promise<{ readonly memories: readonly Memory[]; readonly nextCursor: string | null; readonly truncated: boolean }>
}

export const memory = /* @__PURE__ */ resource<MemoryCalls>({
  write: 'POST /v1/memory/write !',
  writeBatch: 'POST /v1/memory/write/batch !',
  search: 'POST /v1/memory/search !',
  list: 'GET /v1/memory/list *cursor',
  get: 'GET /v1/memory/{}',
  update: 'PATCH /v1/memory/{} !',
  delete: 'DELETE /v1/memory/{}',
  history: 'GET /v1/memory/{}/history',
  remember: 'POST /v1/memory/remember !',
  receipt: 'GET /v1/memory/writes/{}',
  graph: 'GET /v1/memory/graph ?',
  graphRemember: 'POST /v1/memory/graph !',
  entities: 'GET /v1/memory/entities ?',
  import: 'POST /v1/memory/import !',
  forgetSuggestions: 'GET /v1/memory/forget-suggestions ?',
  forget: 'POST /v1/memory/forget !',
  export: 'POST /v1/memory/export !',
})

export interface AgentsCalls {
  /** List agents. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Agent[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, Agent>
  /** Create an agent. */ create(body: { readonly name: string; readonly description?: string | null; /** Configuration of an agent. */ readonly config: AgentConfigInput; /** Which tenants may use the agent. `private`: those with an active installation of it; a client token of another tenant cannot open a session of the agent, nor continue one. `unlisted` and `public`: every tenant of the project. The agent catalogue lists a version with the stricter of the visibilities of the version and the agent. */ readonly visibility?: "private" | "unlisted" | "public" }, options?: CallOptions): Promise<Agent>
  /** Retrieve an agent. */ get(agentId: string, options?: CallOptions): Promise<Agent>
  /** Update an agent. */ update(agentId: string, body?: { readonly name?: string; readonly description?: string | null; /** Configuration of an agent. */ readonly config?: AgentConfigInput; /** Which tenants may use the agent. `private`: those with an active installation of it; a client token of another tenant cannot open a session of the agent, nor continue one. `unlisted` and `public`: every tenant of the project. The agent catalogue lists a version with the stricter of the visibilities of the version and the agent. */ readonly visibility?: "private" | "unlisted" | "public" }, options?: CallOptions): Promise<Agent>
  /** Delete an agent. */ delete(agentId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
}

export const agents = /* @__PURE__ */ resource<AgentsCalls>({
  list: 'GET /v1/agents *cursor',
  create: 'POST /v1/agents !',
  get: 'GET /v1/agents/{}',
  update: 'PATCH /v1/agents/{} !',
  delete: 'DELETE /v1/agents/{}',
})

export interface AgentKeysCalls {
  /** List agent keys. */ list(agentId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly AgentKey[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, AgentKey>
  /** Create an agent key. */ create(agentId: string, body: { readonly name: string; readonly environment?: "live" | "test"; readonly key_type?: "secret" | "public"; /** Origins that requests may come from, such as `*.example.com`. If empty, any origin is allowed. */ readonly allowed_domains?: readonly string[]; /** Limits of the key. A request beyond them is 403 `insufficient_scope`, and `param` names what is missing. Default: none. */ readonly scopes?: { /** Models that requests with the key may use, each as requests name it. Default: no limit. */ readonly models?: readonly string[]; /** Tenants that the key reaches. A key of one tenant acts for that tenant; with several, each request names one, such as in `X-Tenant-Id`. What all tenants share can be read; the rest of the project is out of reach. Default: no limit. */ readonly tenants?: readonly string[]; /** Operations that the key may call: `read` (those that change nothing), `write` (all), or those of a group, such as `sessions` or `sessions:read`. Groups: sessions, runs, actions, agents, models, memory, knowledge, tenants, exports, keys, web, connections, tool_servers, skills, providers, webhooks, usage, request_log, settings. Default: no limit. */ readonly operations?: readonly string[] } | null; readonly expires_at?: string | null }, options?: CallOptions): Promise<AgentKeyShown>
  /** Revoke an agent key. */ delete(agentId: string, agentKeyId: string, options?: CallOptions): Promise<AgentKey>
}

export const agentKeys = /* @__PURE__ */ resource<AgentKeysCalls>({
  list: 'GET /v1/agents/{}/keys *cursor',
  create: 'POST /v1/agents/{}/keys !',
  delete: 'DELETE /v1/agents/{}/keys/{}',
})

export interface AgentVersionsCalls {
  /** List agent versions. */ list(agentId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "draft" | "in_review" | "published" | "deprecated" | "retired" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly AgentVersion[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, AgentVersion>
  /** Create an agent version. */ create(agentId: string, body: { /** Semantic version, such as `1.2.0`. */ readonly version: string; /** Configuration of an agent. */ readonly config: AgentConfigInput; /** Prerequisites of an installation. `connectors`, `mcp_servers`, `skills`, `knowledge` and `knowledge_bases` are checked: a missing one is reported by `agent_versions.validate` and refused with `prerequisites_missing`. Other fields are stored for your own use. */ readonly requirements?: { readonly [name: string]: unknown }; /** Visibility in the agent catalogue. */ readonly visibility?: "private" | "unlisted" | "public" }, options?: CallOptions): Promise<AgentVersion>
  /** Retrieve an agent version. */ get(agentId: string, version: string, options?: CallOptions): Promise<AgentVersion>
  /** Test a draft. */ test(agentId: string, version: string, body: { readonly input: string; readonly test_connection_ids?: readonly string[] }, options?: CallOptions): Promise<AgentVersion>
  /** Submit a draft for review. */ submit(agentId: string, version: string, options?: CallOptions): Promise<AgentVersion>
  /** Review a submitted version. */ review(agentId: string, version: string, body: { readonly decision: "approve" | "reject"; readonly reason?: string }, options?: CallOptions): Promise<AgentVersion>
  /** Publish a version without a review. */ publish(agentId: string, version: string, options?: CallOptions): Promise<AgentVersion>
  /** Deprecate a published version. */ deprecate(agentId: string, version: string, options?: CallOptions): Promise<AgentVersion>
  /** Retire a version. */ retire(agentId: string, version: string, options?: CallOptions): Promise<AgentVersion>
  /** Validate a version. */ validate(agentId: string, version: string, options?: CallOptions): Promise<Validation>
}

export const agentVersions = /* @__PURE__ */ resource<AgentVersionsCalls>({
  list: 'GET /v1/agents/{}/versions *cursor',
  create: 'POST /v1/agents/{}/versions !',
  get: 'GET /v1/agents/{}/versions/{}',
  test: 'POST /v1/agents/{}/versions/{}/test !',
  submit: 'POST /v1/agents/{}/versions/{}/submit',
  review: 'POST /v1/agents/{}/versions/{}/review !',
  publish: 'POST /v1/agents/{}/versions/{}/publish',
  deprecate: 'POST /v1/agents/{}/versions/{}/deprecate',
  retire: 'POST /v1/agents/{}/versions/{}/retire',
  validate: 'POST /v1/agents/{}/versions/{}/validate',
})

export interface AgentCatalogCalls {
  /** List installable agents. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; /** Visibility in the agent catalogue. */ readonly visibility?: "private" | "unlisted" | "public" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly AgentCatalogEntry[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, AgentCatalogEntry>
}

export const agentCatalog = /* @__PURE__ */ resource<AgentCatalogCalls>({
  list: 'GET /v1/agent-catalog *cursor',
})

export interface InstallationsCalls {
  /** List agent installations. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly tenant_id?: string; readonly agent_id?: string; readonly status?: "active" | "disabled" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly AgentInstallation[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, AgentInstallation>
  /** Install an agent for a tenant. */ create(body: { readonly tenant_id: string; readonly agent_id: string; /** Version of the agent. Default: the newest published one. */ readonly version?: string | null; /** Changes of an installation to its version's config. */ readonly overlays?: AgentOverlaysInput; /** Approval policy. If null, `needsApproval` of each tool applies. */ readonly approval_policy?: { /** Applies to tools that `tools` does not name. */ readonly default: "require" | "auto" | "deny"; /** Policy by name of the tool. */ readonly tools?: { readonly [name: string]: "require" | "auto" | "deny" }; /** Who may decide about calls, by name of the tool. It takes precedence over `approver` of the tool. */ readonly approvers?: { readonly [name: string]: "operator" | "end_user" } } | null; /** Rate plan by which usage is charged. */ readonly rate_plan_id?: string | null }, options?: CallOptions): Promise<AgentInstallation>
  /** Retrieve an agent installation. */ get(installationId: string, options?: CallOptions): Promise<AgentInstallation>
  /** Update an installation. */ update(installationId: string, body?: { /** Changes of an installation to its version's config. */ readonly overlays?: AgentOverlaysInput; /** Approval policy. If null, `needsApproval` of each tool applies. */ readonly approval_policy?: { /** Applies to tools that `tools` does not name. */ readonly default: "require" | "auto" | "deny"; /** Policy by name of the tool. */ readonly tools?: { readonly [name: string]: "require" | "auto" | "deny" }; /** Who may decide about calls, by name of the tool. It takes precedence over `approver` of the tool. */ readonly approvers?: { readonly [name: string]: "operator" | "end_user" } } | null; /** Rate plan by which usage is charged. */ readonly rate_plan_id?: string | null; readonly status?: "active" | "disabled" }, options?: CallOptions): Promise<AgentInstallation>
  /** Disable an installation. */ delete(installationId: string, options?: CallOptions): Promise<AgentInstallation>
  /** Upgrade an installation. */ upgrade(installationId: string, body?: { readonly version?: string }, options?: CallOptions): Promise<AgentInstallation>
  /** Roll back an installation. */ rollback(installationId: string, options?: CallOptions): Promise<AgentInstallation>
}

export const installations = /* @__PURE__ */ resource<InstallationsCalls>({
  list: 'GET /v1/agent-installations *cursor',
  create: 'POST /v1/agent-installations !',
  get: 'GET /v1/agent-installations/{}',
  update: 'PATCH /v1/agent-installations/{} !',
  delete: 'DELETE /v1/agent-installations/{}',
  upgrade: 'POST /v1/agent-installations/{}/upgrade !',
  rollback: 'POST /v1/agent-installations/{}/rollback',
})

export interface SessionsCalls {
  /** Create a session. */ create(body?: { readonly agent_id?: string; /** Tenant that the session is for. Default: `X-Tenant-Id`. */ readonly tenant_id?: string; /** Your own id of the end user whose session it is. Default: `X-External-User-Id`. */ readonly external_user_id?: string; /** Installation that the session uses. Its agent and tenant are implied. */ readonly installation_id?: string; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<CreatedSession>
  /** List sessions. */ list(query?: { readonly status?: "active" | "paused" | "completed"; readonly agent_id?: string; readonly installation_id?: string; readonly tenant_id?: string; /** Your own id of the end user. Needs `tenant_id`. */ readonly external_user_id?: string; /** Id of the last item that you received. Page numbers are relative to it, so new items do not shift the pages. */ readonly starting_after?: string; /** Page number, starting at 1. */ readonly page?: number; /** Maximum number of items on a page. */ readonly limit?: number }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Session[]; readonly pagination: Pagination }, Session>
  /** Retrieve a session. */ get(sessionId: string, options?: CallOptions): Promise<Session>
  /** Delete a session. */ delete(sessionId: string, options?: CallOptions): Promise<{ readonly id: string; readonly deleted: true }>
  /** Create a turn. */ turns(sessionId: string, body?: TurnRequestInput, options?: CallOptions): Promise<Response>
  /** List the messages of a session. */ messages(sessionId: string, query?: { /** Turn number before which the page ends: that of the first message that you have. */ readonly before?: number; /** Maximum number of turns on a page. */ readonly limit?: number }, options?: CallOptions): Promise<SessionMessages>
  /** Stream the events of a session. */ stream(sessionId: string, query?: { /** Whether to begin with `session.snapshot` instead of the first event. */ readonly snapshot?: boolean; readonly event_names?: "short" | "long"; readonly after?: number; /** Whether to send `turn.restarted` and the deltas after it when a crash made a turn begin its model call again. Without it, the deltas end where the crash was, and `turn.completed` has the text. */ readonly restarts?: boolean }, options?: CallOptions): Promise<Response>
  /** Approve a tool call. */ approve(sessionId: string, body: { readonly action_id: string; /** Outputs of tools that you ran. */ readonly tool_results?: readonly ({ /** Id of the tool call. */ readonly action_id: string; /** Output for the model. */ readonly output: string })[]; /** Edited arguments of the tool call, as in `actions.approve`. */ readonly arguments?: { readonly [name: string]: unknown }; /** Values for a form that a server requested, as in `actions.approve`. */ readonly content?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<Response>
  /** Reject a tool call. */ reject(sessionId: string, body: { readonly action_id: string }, options?: CallOptions): Promise<{ readonly id: string; readonly action_id: string; readonly resolution: "rejected"; readonly status: "active" | "paused" | "completed" }>
  /** Cancel a turn. */ cancel(sessionId: string, body?: { /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<Session>
  /** Fork a session. */ fork(sessionId: string, body?: { /** Last turn to copy; it must have ended. Default: the latest turn that has ended. */ readonly turn_number?: number; /** Metadata of the new session. Default: the metadata of this session. */ readonly metadata?: { readonly [name: string]: unknown }; /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<CreatedSession>
  /** List the events of a session. */ events(sessionId: string, query?: { readonly turn_number?: number; /** Sequence number of the last event that you received. Page numbers are relative to it. */ readonly after?: number; /** Page number, starting at 1. */ readonly page?: number; /** Maximum number of items on a page. */ readonly limit?: number }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly SessionEvent[]; readonly pagination: Pagination }, SessionEvent>
}

export const sessions = /* @__PURE__ */ resource<SessionsCalls>({
  create: 'POST /v1/sessions !',
  list: 'GET /v1/sessions *starting_after',
  get: 'GET /v1/sessions/{}',
  delete: 'DELETE /v1/sessions/{}',
  turns: 'POST /v1/sessions/{}/turns !',
  messages: 'GET /v1/sessions/{}/messages ?',
  stream: 'GET /v1/sessions/{}/stream ?',
  approve: 'POST /v1/sessions/{}/approve !',
  reject: 'POST /v1/sessions/{}/reject !',
  cancel: 'POST /v1/sessions/{}/cancel !',
  fork: 'POST /v1/sessions/{}/fork !',
  events: 'GET /v1/sessions/{}/events *after',
})

export interface ActionsCalls {
  /** List actions. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; /** Risk of a tool call, shown to approvers. */ readonly risk_level?: "low" | "medium" | "high" | "critical"; readonly tool?: string; readonly session_id?: string; readonly run_id?: string; readonly tenant_id?: string; /** Your own id of the end user. Needs `tenant_id`. */ readonly external_user_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Action[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, Action>
  /** Create an action. */ create(body: { /** Name of the tool. */ readonly tool: string; /** Arguments of the call. Secrets are masked, except where a secret key reads a call of a `function` tool, which the caller itself runs. */ readonly arguments: { readonly [name: string]: unknown }; /** Risk of a tool call, shown to approvers. */ readonly risk_level?: "low" | "medium" | "high" | "critical"; /** Tenant for which the call is made. */ readonly tenant_id?: string | null; /** Run that made the call. */ readonly run_id?: string | null; /** Session that made the call. */ readonly session_id?: string | null; /** Request that the server makes, once, when the action is approved. Without it, you execute the approved action yourself and report the outcome with `actions.complete`. */ readonly execute?: { readonly type: "http"; /** URL that the arguments are sent to. */ readonly url: string; /** HTTP method. Default: `POST`. */ readonly method?: "POST" | "PUT" | "PATCH"; /** Timeout of the call in milliseconds. */ readonly timeout_ms?: number; /** Headers of the request. Values are write-only: responses contain `[masked]`. */ readonly headers?: { readonly [name: string]: string } } | null; /** Seconds until the action expires; at most 604,800 (7 days). */ readonly expires_in?: number }, options?: CallOptions): Promise<Action>
  /** Retrieve an action. */ get(actionId: string, options?: CallOptions): Promise<Action>
  /** Approve an action. */ approve(actionId: string, body?: { /** Note that is stored in the audit log as the reason. */ readonly note?: string; /** Outputs of tools that you ran. */ readonly tool_results?: readonly ({ /** Id of the tool call. */ readonly action_id: string; /** Output for the model. */ readonly output: string })[]; /** Arguments that replace the proposed ones. A masked value that is sent back unchanged keeps the stored value. */ readonly arguments?: { readonly [name: string]: unknown }; /** Values for the form that the tool's server requested (`input.schema`). They are sent to that server. */ readonly content?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<Action>
  /** Complete an action. */ complete(actionId: string, body?: { /** Output of the tool. */ readonly output?: string; /** Reason for which the tool produced no output. */ readonly error?: { readonly code: string; readonly message: string } }, options?: CallOptions): Promise<Action>
  /** Reject an action. */ reject(actionId: string, body?: { readonly reason?: string; /** Answer for a server that requested input: `decline` (default) refuses the request, `cancel` dismisses it without a decision. */ readonly response?: "decline" | "cancel" }, options?: CallOptions): Promise<Action>
}

export const actions = /* @__PURE__ */ resource<ActionsCalls>({
  list: 'GET /v1/actions *cursor',
  create: 'POST /v1/actions !',
  get: 'GET /v1/actions/{}',
  approve: 'POST /v1/actions/{}/approve !',
  complete: 'POST /v1/actions/{}/complete !',
  reject: 'POST /v1/actions/{}/reject !',
})

export interface UiMessagesCalls {
  /** Send a UI message. */ send(sessionId: string, body: { /** Id of the chat in the page. Ignored: the path names the session. */ readonly id?: string; /** Messages of the page. Only the last one, or the one that `messageId` names, is read. */ readonly messages: readonly UiMessageInput[]; readonly trigger?: "submit-message" | "regenerate-message"; /** Message from the assistant that the stream continues. A message from the user cannot be replaced. */ readonly messageId?: string; /** Tools that the model may call in this turn. */ readonly tools?: readonly (FunctionToolInput | HttpToolInput | WebSearchToolInput | McpToolDeclarationInput)[]; /** System message of this turn. */ readonly instructions?: string; /** Model of this turn, as a model id or `provider/model`. */ readonly model?: string; /** Whether tool calls require approval. When any tool has `needsApproval`, only calls of those tools do. Default: true. */ readonly pause_on_tool_calls?: boolean; /** Memory of the session's end user. Default: the setting of the agent's config. */ readonly memory?: boolean | ConversationMemoryInput | null }, options?: CallOptions): Promise<Response>
  /** Resume a UI message. */ resume(sessionId: string, chat: string, options?: CallOptions): Promise<Response>
}

export const uiMessages = /* @__PURE__ */ resource<UiMessagesCalls>({
  send: 'POST /v1/sessions/{}/ui-messages !',
  resume: 'GET /v1/sessions/{}/ui-messages/{}/stream',
})

export interface AgUiCalls {
  /** Run an agent with AG-UI. */ run(agentId: string, body: { /** Id of a session, or an id of your own within the tenant, the user and the agent. With a public key it must be a UUID. */ readonly threadId: string; /** Id of the run, which its events repeat. */ readonly runId: string; /** Messages of the page. The session has the earlier ones. */ readonly messages: readonly AgUiMessageInput[]; /** Functions that the page runs. */ readonly tools?: readonly AgUiToolInput[]; readonly resume?: readonly AgUiResumeEntryInput[]; /** State of the page, which stays there. */ readonly state?: unknown }, options?: CallOptions): Promise<Response>
}

export const agUi = /* @__PURE__ */ resource<AgUiCalls>({
  run: 'POST /v1/agents/{}/ag-ui !',
})

export interface RunsCalls {
  /** Create a run. */ create(agentId: string, body: { readonly installation_id?: string; readonly tenant_id?: string; readonly external_user_id?: string; readonly mode?: "background"; /** Task of a run. Additional fields are passed to the agent as well. */ readonly input: RunTaskInput; /** Memory of the run's user: read before each model call, written after the last answer. Default: the setting of the agent's config. */ readonly memory?: boolean | ConversationMemoryInput | null; /** Seconds until the action expires; at most 604,800 (7 days). */ readonly expires_in?: number }, options?: CallOptions): Promise<Run>
  /** List runs. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly agent_id?: string; readonly parent_run_id?: string; readonly installation_id?: string; readonly tenant_id?: string; /** Your own id of the end user. Needs `tenant_id`. */ readonly external_user_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly RunListed[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, RunListed>
  /** Retrieve a run. */ get(runId: string, options?: CallOptions): Promise<Run>
  /** Cancel a run. */ cancel(runId: string, body?: { /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<Run>
  /** Replay a run. */ replay(runId: string, body?: { /** Task of the new run. Default: the task of the original run. */ readonly input?: RunTaskInput; /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<Run>
  /** Delegate to another agent. */ delegate(runId: string, body: { readonly agent_version_id: string; readonly input: unknown; readonly installation_id?: string }, options?: CallOptions): Promise<Run>
  /** List or stream the events of a run. */ events(runId: string, query?: { /** Number of events on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly event_names?: "short" | "long"; readonly after?: number }, options?: CallOptions): Promise<{ /** Items of this page. */ readonly data: readonly RunEvent[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null } | Response>
}

export const runs = /* @__PURE__ */ resource<RunsCalls>({
  create: 'POST /v1/agents/{}/runs !',
  list: 'GET /v1/runs *cursor',
  get: 'GET /v1/runs/{}',
  cancel: 'POST /v1/runs/{}/cancel !',
  replay: 'POST /v1/runs/{}/replay !',
  delegate: 'POST /v1/runs/{}/delegate !',
  events: 'GET /v1/runs/{}/events ?',
})

export interface SkillsCalls {
  /** List skills. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Skill[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, Skill>
  /** Create a skill. */ create(body: { readonly name: string; /** When to use the skill. The model reads this. */ readonly description: string; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<Skill>
  /** Retrieve a skill. */ get(skillId: string, options?: CallOptions): Promise<Skill>
  /** Update a skill. */ update(skillId: string, body?: { readonly name?: string; /** When to use the skill. The model reads this. */ readonly description?: string; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<Skill>
}

export const skills = /* @__PURE__ */ resource<SkillsCalls>({
  list: 'GET /v1/skills *cursor',
  create: 'POST /v1/skills !',
  get: 'GET /v1/skills/{}',
  update: 'PATCH /v1/skills/{} !',
})

export interface SkillVersionsCalls {
  /** List versions of a skill. */ list(skillId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "draft" | "published" | "deprecated" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly SkillVersion[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, SkillVersion>
  /** Create a draft version of a skill. */ create(skillId: string, body: { /** Semantic version, such as `1.2.0`. */ readonly version: string; /** Text of `SKILL.md`. */ readonly content: string; /** Files in addition to `SKILL.md`. */ readonly files?: readonly ({ /** Path within the skill, such as `scripts/report.py`. */ readonly path: string; readonly content: string; /** Encoding of `content`. */ readonly encoding?: "utf8" | "base64" })[] }, options?: CallOptions): Promise<SkillVersionWithContent>
  /** Retrieve a version of a skill. */ get(skillId: string, version: string, options?: CallOptions): Promise<SkillVersionWithContent>
  /** Retrieve a file of a version. */ file(skillId: string, version: string, path: string, options?: CallOptions): Promise<SkillFile>
  /** Publish a version of a skill. */ publish(skillId: string, version: string, body?: { /** Blockers to accept. Only dashboard admins may set it; it is recorded in the audit log. */ readonly override?: readonly SkillOverrideInput[] }, options?: CallOptions): Promise<SkillVersion>
  /** Deprecate a published version of a skill. */ deprecate(skillId: string, version: string, options?: CallOptions): Promise<SkillVersion>
}

export const skillVersions = /* @__PURE__ */ resource<SkillVersionsCalls>({
  list: 'GET /v1/skills/{}/versions *cursor',
  create: 'POST /v1/skills/{}/versions !',
  get: 'GET /v1/skills/{}/versions/{}',
  file: 'GET /v1/skills/{}/versions/{}/files/{}',
  publish: 'POST /v1/skills/{}/versions/{}/publish !',
  deprecate: 'POST /v1/skills/{}/versions/{}/deprecate',
})

export interface SkillImportsCalls {
  /** Stage an import of a skill. */ create(body?: { /** Text of a `SKILL.md`. */ readonly text?: string; /** URL of a `SKILL.md` file or of an archive. */ readonly url?: string; /** Archive in base64. */ readonly archive?: string; readonly skill_id?: string; /** Version to publish it as. Default: `1.0.0`, or the next patch of the skill. */ readonly version?: string }, options?: CallOptions): Promise<SkillImport>
  /** List imports of skills. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "staged" | "published" | "rejected" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly SkillImport[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, SkillImport>
  /** Retrieve an import of a skill. */ get(importId: string, options?: CallOptions): Promise<SkillImport>
  /** Publish an import of a skill. */ publish(importId: string, body?: { /** Blockers to accept. Only dashboard admins may set it; it is recorded in the audit log. */ readonly override?: readonly SkillOverrideInput[] }, options?: CallOptions): Promise<SkillImport>
  /** Reject an import of a skill. */ reject(importId: string, options?: CallOptions): Promise<SkillImport>
}

export const skillImports = /* @__PURE__ */ resource<SkillImportsCalls>({
  create: 'POST /v1/skill-imports !',
  list: 'GET /v1/skill-imports *cursor',
  get: 'GET /v1/skill-imports/{}',
  publish: 'POST /v1/skill-imports/{}/publish !',
  reject: 'POST /v1/skill-imports/{}/reject',
})

export interface ClientTokensCalls {
  /** Create a client token. */ create(body: { /** Tenant of the end user. */ readonly tenant_id: string; /** Your own id of the end user. */ readonly external_user_id: string; /** Installations whose agents the token may use. Default: all installations of the tenant. */ readonly installation_ids?: readonly string[]; /** `sessions:turn` sends and reads turns. `sessions:approve` decides tool calls of the user's sessions whose `approver` is `end_user`. `sessions:tools` runs the `function` tools that the page itself declared, with their complete arguments. */ readonly permissions?: readonly ("sessions:turn" | "sessions:approve" | "sessions:tools")[]; /** Seconds until the token expires. Values above 900 are treated as 900. */ readonly expires_in?: number; /** Session to which the token is restricted. */ readonly session_id?: string }, options?: CallOptions): Promise<{ readonly token: string; readonly expires_at: string }>
}

export const clientTokens = /* @__PURE__ */ resource<ClientTokensCalls>({
  create: 'POST /v1/client-tokens !',
})

export interface KnowledgeBasesCalls {
  /** List knowledge bases. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly tenant_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly KnowledgeBase[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, KnowledgeBase>
  /** Create a knowledge base. */ create(body: { readonly name: string; /** What the documents are about. Agents read the description. */ readonly description?: string | null; /** Tenant that the knowledge base belongs to. Null if it belongs to the project; tenants can then search it only with a grant. */ readonly tenant_id?: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<KnowledgeBase>
  /** Retrieve a knowledge base. */ get(knowledgeBaseId: string, options?: CallOptions): Promise<KnowledgeBase>
  /** Delete a knowledge base. */ delete(knowledgeBaseId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
  /** Update a knowledge base. */ update(knowledgeBaseId: string, body?: { readonly name?: string; readonly description?: string | null; readonly metadata?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<KnowledgeBase>
  /** Search a knowledge base. */ search(knowledgeBaseId: string, body: { /** Question or words, up to 20,000 characters. Up to 5,000 different words of it are searched; by meaning, its first 2,000 characters. */ readonly query: string; /** Maximum number of hits. Default: 5. */ readonly top_k?: number; /** Metadata that a source must have, such as `{"lang": "en", "year": [2025, 2026]}`; a list matches any of its values. `source_id` filters by source. */ readonly filter?: { readonly [name: string]: unknown }; /** Subject to search as, with only its grants: `subject_type` and `subject_id` of a grant, or `type` and `id`. Only for secret keys and the dashboard. */ readonly subject?: { readonly subject_type: "tenant" | "agent" | "installation" | "end_user"; readonly subject_id: string } | { readonly type: "tenant" | "agent" | "installation" | "end_user"; readonly id: string }; /** Minimum score of a hit. Default: 0, which excludes none. */ readonly threshold?: number; /** Whether to return the parts of each score and what was left out. */ readonly explain?: boolean }, options?: CallOptions): Promise<{ readonly data: readonly KnowledgeHit[]; /** True if no chunk passes the filter and the threshold: the knowledge base does not answer the query. */ readonly abstained: boolean; /** Embedder of the query. Null if only keywords were searched. */ readonly embedder: string | null; /** What was left out, and why. Present with `explain`. */ readonly left_out?: readonly ({ readonly [name: string]: unknown })[] }>
}

export const knowledgeBases = /* @__PURE__ */ resource<KnowledgeBasesCalls>({
  list: 'GET /v1/knowledge-bases *cursor',
  create: 'POST /v1/knowledge-bases !',
  get: 'GET /v1/knowledge-bases/{}',
  delete: 'DELETE /v1/knowledge-bases/{}',
  update: 'PATCH /v1/knowledge-bases/{} !',
  search: 'POST /v1/knowledge-bases/{}/search !',
})

export interface KnowledgeGrantsCalls {
  /** List knowledge grants. */ list(knowledgeBaseId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly subject_type?: "tenant" | "agent" | "installation" | "end_user" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly KnowledgeGrant[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, KnowledgeGrant>
  /** Create a knowledge grant. */ create(knowledgeBaseId: string, body: { readonly subject_type: "tenant" | "agent" | "installation" | "end_user"; /** Id of the tenant, the agent, the installation, or the user of a tenant (`usr_…`) or of the project (`eus_…`). */ readonly subject_id: string; /** Permissions that are granted. */ readonly permissions?: readonly "read"[] }, options?: CallOptions): Promise<KnowledgeGrant>
  /** Revoke a knowledge grant. */ delete(knowledgeBaseId: string, grantId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
}

export const knowledgeGrants = /* @__PURE__ */ resource<KnowledgeGrantsCalls>({
  list: 'GET /v1/knowledge-bases/{}/grants *cursor',
  create: 'POST /v1/knowledge-bases/{}/grants !',
  delete: 'DELETE /v1/knowledge-bases/{}/grants/{}',
})

export interface KnowledgeSourcesCalls {
  /** List knowledge sources. */ list(knowledgeBaseId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "pending" | "ready" | "failed" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly KnowledgeSource[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, KnowledgeSource>
  /** Retrieve a knowledge source. */ get(knowledgeBaseId: string, sourceId: string, options?: CallOptions): Promise<KnowledgeSource>
  /** Delete a knowledge source. */ delete(knowledgeBaseId: string, sourceId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
  /** Add a knowledge source. */ create(knowledgeBaseId: string, body: { /** Text of the source, up to 2,000,000 characters. */ readonly text?: string; /** Page or file that the server fetches. Private addresses are refused. */ readonly url?: string; /** Seconds after which the URL is fetched again. If null, it is fetched only when a sync is requested. */ readonly refresh_interval_s?: number | null; /** Title of the source. Default: the title in the content, or the file name. */ readonly title?: string; /** MIME type of `text`: `text/plain`, `text/markdown`, `text/html`, `text/csv` or `application/json`. Default: `text/markdown`. */ readonly mime_type?: string; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown } } | FormData, options?: CallOptions): Promise<KnowledgeSource>
  /** Update a knowledge source. */ update(knowledgeBaseId: string, sourceId: string, body?: { readonly title?: string; readonly metadata?: { readonly [name: string]: unknown }; readonly url?: string; /** Seconds after which the URL is fetched again. If null, it is fetched only when a sync is requested. */ readonly refresh_interval_s?: number | null }, options?: CallOptions): Promise<KnowledgeSource>
  /** Sync a knowledge source. */ sync(knowledgeBaseId: string, sourceId: string, body: { /** Text of the source, up to 2,000,000 characters. */ readonly text?: string } | FormData, options?: CallOptions): Promise<KnowledgeSource>
  /** Retrieve the text of a knowledge source. */ text(knowledgeBaseId: string, sourceId: string, options?: CallOptions): Promise<Response>
  /** List chunks of a knowledge source. */ chunks(knowledgeBaseId: string, sourceId: string, query?: { readonly limit?: number; readonly cursor?: string }, options?: CallOptions): Pages<{ readonly data: readonly KnowledgeChunk[]; readonly next_cursor: string | null }, KnowledgeChunk>
}

export const knowledgeSources = /* @__PURE__ */ resource<KnowledgeSourcesCalls>({
  list: 'GET /v1/knowledge-bases/{}/sources *cursor',
  get: 'GET /v1/knowledge-bases/{}/sources/{}',
  delete: 'DELETE /v1/knowledge-bases/{}/sources/{}',
  create: 'POST /v1/knowledge-bases/{}/sources !',
  update: 'PATCH /v1/knowledge-bases/{}/sources/{} !',
  sync: 'POST /v1/knowledge-bases/{}/sources/{}/sync !',
  text: 'GET /v1/knowledge-bases/{}/sources/{}/text',
  chunks: 'GET /v1/knowledge-bases/{}/sources/{}/chunks *cursor',
})

export interface KnowledgeRecallSetsCalls {
  /** List knowledge recall sets. */ list(knowledgeBaseId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly KnowledgeRecallSet[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, KnowledgeRecallSet>
  /** Create a knowledge recall set. */ create(knowledgeBaseId: string, body: { readonly name: string; readonly questions: readonly RecallQuestionInput[] }, options?: CallOptions): Promise<KnowledgeRecallSet>
  /** Retrieve a knowledge recall set. */ get(knowledgeBaseId: string, recallSetId: string, options?: CallOptions): Promise<KnowledgeRecallSet>
  /** Delete a knowledge recall set. */ delete(knowledgeBaseId: string, recallSetId: string, options?: CallOptions): Promise<{ readonly id: string; /** Always true. */ readonly deleted: true }>
  /** Measure the recall of a knowledge base. */ measure(knowledgeBaseId: string, recallSetId: string, body?: { /** Number of hits per question to consider. Default: 5. */ readonly k?: number }, options?: CallOptions): Promise<{ readonly k: number; /** Share of the questions with a correct hit among the first `k`, from 0 to 1. */ readonly recall: number; /** Mean reciprocal rank: the mean of 1 divided by the rank of the first correct hit. */ readonly mrr: number; readonly embedder: string | null; readonly questions: readonly ({ readonly question: string; /** Rank of the first correct hit, starting at 1. */ readonly rank: number | null })[] }>
}

export const knowledgeRecallSets = /* @__PURE__ */ resource<KnowledgeRecallSetsCalls>({
  list: 'GET /v1/knowledge-bases/{}/recall-sets *cursor',
  create: 'POST /v1/knowledge-bases/{}/recall-sets !',
  get: 'GET /v1/knowledge-bases/{}/recall-sets/{}',
  delete: 'DELETE /v1/knowledge-bases/{}/recall-sets/{}',
  measure: 'POST /v1/knowledge-bases/{}/recall-sets/{}/measure !',
})

export interface FilesCalls {
  /** Upload a file. */ create(body: FormData, options?: CallOptions): Promise<StoredFile>
  /** List files. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Order by time of creation. Default: `desc`. */ readonly order?: "asc" | "desc"; /** Id of the last item of the previous page. Default: the first page. */ readonly after?: string; readonly purpose?: "assistants" | "batch" | "user_data" | "batch_output" }, options?: CallOptions): Pages<{ readonly object: "list"; /** Items of this page. */ readonly data: readonly StoredFile[]; readonly first_id: string | null; readonly last_id: string | null; /** Whether there are more items after this page. */ readonly has_more: boolean }, StoredFile>
  /** Retrieve a file. */ get(fileId: string, options?: CallOptions): Promise<StoredFile>
  /** Retrieve the content of a file. */ content(fileId: string, options?: CallOptions): Promise<Response>
  /** Delete a file. */ delete(fileId: string, options?: CallOptions): Promise<{ readonly id: string; readonly object: "file"; readonly deleted: true }>
}

export const files = /* @__PURE__ */ resource<FilesCalls>({
  create: 'POST /v1/files !',
  list: 'GET /v1/files *after',
  get: 'GET /v1/files/{}',
  content: 'GET /v1/files/{}/content',
  delete: 'DELETE /v1/files/{}',
})

export interface VectorStoresCalls {
  /** Create a vector store. */ create(body?: { readonly name?: string | null; readonly description?: string | null; readonly file_ids?: readonly string[]; /** Only `auto`: documents are split along their headings and paragraphs. */ readonly chunking_strategy?: { readonly type: "auto" }; readonly metadata?: { readonly [name: string]: string } | null }, options?: CallOptions): Promise<VectorStore>
  /** List vector stores. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Order by time of creation. Default: `desc`. */ readonly order?: "asc" | "desc"; /** Id of the last item of the previous page. Default: the first page. */ readonly after?: string }, options?: CallOptions): Pages<{ readonly object: "list"; /** Items of this page. */ readonly data: readonly VectorStore[]; readonly first_id: string | null; readonly last_id: string | null; /** Whether there are more items after this page. */ readonly has_more: boolean }, VectorStore>
  /** Retrieve a vector store. */ get(vectorStoreId: string, options?: CallOptions): Promise<VectorStore>
  /** Update a vector store. */ update(vectorStoreId: string, body?: { readonly name?: string | null; readonly metadata?: { readonly [name: string]: string } | null }, options?: CallOptions): Promise<VectorStore>
  /** Delete a vector store. */ delete(vectorStoreId: string, options?: CallOptions): Promise<{ readonly id: string; readonly object: "vector_store.deleted"; readonly deleted: true }>
  /** Search a vector store. */ search(vectorStoreId: string, body: { readonly query: string | readonly string[]; /** Maximum number of hits. Default: 10. */ readonly max_num_results?: number; /** Comparisons of attributes, combined by `and` and `or`. */ readonly filters?: { readonly [name: string]: unknown } | null; readonly ranking_options?: { readonly ranker?: string; readonly score_threshold?: number } | null; /** Only `false`: queries are searched as they are. */ readonly rewrite_query?: false }, options?: CallOptions): Promise<{ readonly object: "vector_store.search_results.page"; readonly search_query: readonly string[]; readonly data: readonly VectorStoreHit[]; readonly has_more: false; /** Always null: there is one page. */ readonly next_page: string | null }>
}

export const vectorStores = /* @__PURE__ */ resource<VectorStoresCalls>({
  create: 'POST /v1/vector_stores !',
  list: 'GET /v1/vector_stores *after',
  get: 'GET /v1/vector_stores/{}',
  update: 'POST /v1/vector_stores/{} !',
  delete: 'DELETE /v1/vector_stores/{}',
  search: 'POST /v1/vector_stores/{}/search !',
})

export interface VectorStoreFilesCalls {
  /** Add a file to a vector store. */ create(vectorStoreId: string, body: { readonly file_id: string; readonly attributes?: { readonly [name: string]: string | number | boolean } | null; /** Only `auto`: documents are split along their headings and paragraphs. */ readonly chunking_strategy?: { readonly type: "auto" } }, options?: CallOptions): Promise<VectorStoreFile>
  /** List the files of a vector store. */ list(vectorStoreId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Order by time of creation. Default: `desc`. */ readonly order?: "asc" | "desc"; /** Id of the last item of the previous page. Default: the first page. */ readonly after?: string; readonly filter?: "in_progress" | "completed" | "failed" | "cancelled" }, options?: CallOptions): Pages<{ readonly object: "list"; /** Items of this page. */ readonly data: readonly VectorStoreFile[]; readonly first_id: string | null; readonly last_id: string | null; /** Whether there are more items after this page. */ readonly has_more: boolean }, VectorStoreFile>
  /** Retrieve a file of a vector store. */ get(vectorStoreId: string, fileId: string, options?: CallOptions): Promise<VectorStoreFile>
  /** Update the attributes of a file. */ update(vectorStoreId: string, fileId: string, body?: { readonly attributes?: { readonly [name: string]: string | number | boolean } | null }, options?: CallOptions): Promise<VectorStoreFile>
  /** Retrieve the text of a file of a vector store. */ content(vectorStoreId: string, fileId: string, options?: CallOptions): Promise<{ readonly object: "vector_store.file_content.page"; readonly data: readonly ({ readonly type: "text"; readonly text: string })[]; readonly has_more: false; /** Always null: there is one page. */ readonly next_page: string | null }>
  /** Remove a file from a vector store. */ delete(vectorStoreId: string, fileId: string, options?: CallOptions): Promise<{ readonly id: string; readonly object: "vector_store.file.deleted"; readonly deleted: true }>
}

export const vectorStoreFiles = /* @__PURE__ */ resource<VectorStoreFilesCalls>({
  create: 'POST /v1/vector_stores/{}/files !',
  list: 'GET /v1/vector_stores/{}/files *after',
  get: 'GET /v1/vector_stores/{}/files/{}',
  update: 'POST /v1/vector_stores/{}/files/{} !',
  content: 'GET /v1/vector_stores/{}/files/{}/content',
  delete: 'DELETE /v1/vector_stores/{}/files/{}',
})

export interface VectorStoreFileBatchesCalls {
  /** Add several files to a vector store. */ create(vectorStoreId: string, body?: { readonly file_ids?: readonly string[]; readonly files?: readonly ({ readonly file_id: string; readonly attributes?: { readonly [name: string]: string | number | boolean } | null; /** Only `auto`: documents are split along their headings and paragraphs. */ readonly chunking_strategy?: { readonly type: "auto" } })[]; readonly attributes?: { readonly [name: string]: string | number | boolean } | null; /** Only `auto`: documents are split along their headings and paragraphs. */ readonly chunking_strategy?: { readonly type: "auto" } }, options?: CallOptions): Promise<VectorStoreFileBatch>
  /** Retrieve a batch of files. */ get(vectorStoreId: string, fileBatchId: string, options?: CallOptions): Promise<VectorStoreFileBatch>
  /** Cancel a batch of files. */ cancel(vectorStoreId: string, fileBatchId: string, options?: CallOptions): Promise<VectorStoreFileBatch>
  /** List the files of a batch. */ files(vectorStoreId: string, fileBatchId: string, query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Order by time of creation. Default: `desc`. */ readonly order?: "asc" | "desc"; /** Id of the last item of the previous page. Default: the first page. */ readonly after?: string; readonly filter?: "in_progress" | "completed" | "failed" | "cancelled" }, options?: CallOptions): Pages<{ readonly object: "list"; /** Items of this page. */ readonly data: readonly VectorStoreFile[]; readonly first_id: string | null; readonly last_id: string | null; /** Whether there are more items after this page. */ readonly has_more: boolean }, VectorStoreFile>
}

export const vectorStoreFileBatches = /* @__PURE__ */ resource<VectorStoreFileBatchesCalls>({
  create: 'POST /v1/vector_stores/{}/file_batches !',
  get: 'GET /v1/vector_stores/{}/file_batches/{}',
  cancel: 'POST /v1/vector_stores/{}/file_batches/{}/cancel',
  files: 'GET /v1/vector_stores/{}/file_batches/{}/files *after',
})

export interface WebCalls {
  /** Fetch a page. */ fetch(body: { /** Absolute URL of a page, `http` or `https`. */ readonly url: string; /** Maximum size of the page in bytes after decompression. A larger page fails with `response_too_large`. Default: 2 MiB; at most 5 MiB. */ readonly maxBytes?: number; /** Timeout of the whole request in milliseconds, including redirects. Default: 15,000; from 1,000 to 30,000. */ readonly timeoutMs?: number; /** Whether to open the page in a browser and read what its scripts have made of it. `auto` does so if the page has scripts and almost no text of its own. Default: `false`. */ readonly render?: boolean | "auto" }, options?: CallOptions): Promise<WebPage>
  /** Extract the text of a page. */ extract(body: { /** Absolute URL of a page, `http` or `https`. */ readonly url: string; /** Maximum size of the page in bytes after decompression. A larger page fails with `response_too_large`. Default: 2 MiB; at most 5 MiB. */ readonly maxBytes?: number; /** Timeout of the whole request in milliseconds, including redirects. Default: 15,000; from 1,000 to 30,000. */ readonly timeoutMs?: number; /** Whether to open the page in a browser and read what its scripts have made of it. `auto` does so if the page has scripts and almost no text of its own. Default: `auto`. */ readonly render?: boolean | "auto"; /** Format of `content`. Default: `text`. */ readonly format?: "text" | "markdown"; /** JSON Schema of an object, at most 32 KiB. Its properties are extracted into `data`: they are located by their names and titles in structured data, tables, labelled lines and headings. */ readonly schema?: { readonly [name: string]: unknown } }, options?: CallOptions): Promise<WebExtract>
  /** Crawl pages into the project's index. */ crawl(body: { /** URLs at which the crawl starts. */ readonly seeds: readonly string[]; /** Maximum number of pages to read. Default: 10; at most 25. */ readonly maxPages?: number; /** Maximum number of links between a seed and a page. Default: 1; at most 3. */ readonly maxDepth?: number; /** Whether to follow only links to the origins of the seeds. Default: true. */ readonly sameOrigin?: boolean; /** Whether to open the page in a browser and read what its scripts have made of it. `auto` does so if the page has scripts and almost no text of its own. Default: `false`. */ readonly render?: boolean | "auto"; /** Whether to start with the pages in the sitemaps of the seeds as well. */ readonly sitemap?: boolean; /** Maximum age in seconds of an indexed page that is not requested again. Default: 0: every page is requested, with a conditional request. */ readonly maxAge?: number }, options?: CallOptions): Promise<WebCrawl>
  /** Search pages. */ search(body: { readonly query: string; /** Maximum number of results. Default: 10. */ readonly limit?: number; /** Only pages of this host and its subdomains. */ readonly domain?: string; /** Only pages that were published since a time, or within a duration such as `24h`, `7d`, `2w`, `3m` (months) or `1y`. Pages without a date are excluded. */ readonly freshness?: string; /** Only pages in this language, a BCP 47 tag. */ readonly language?: string; /** Name of a third-party engine that the operator has configured. It receives the query. Default: the built-in index. */ readonly engine?: string; /** Whether to return the parts of each score. */ readonly explain?: boolean }, options?: CallOptions): Promise<{ readonly query: string; readonly count: number; /** Identifier of the ranking, followed by `+` and the id of the embedder if vector search contributed. With `engine`, the name of that engine. */ readonly searchEngine: string; readonly results: readonly WebSearchResult[]; /** Always true: the content of a page is untrusted data, and must never be treated as instructions. */ readonly untrusted: true }>
  /** Request the removal of pages. */ takedown(body: { readonly urls: readonly string[]; readonly basis: "copyright" | "privacy" | "legal" | "robots" | "other"; readonly requesterName: string; readonly requesterEmail: string; readonly statement: string }, options?: CallOptions): Promise<WebTakedownReceipt>
}

export const web = /* @__PURE__ */ resource<WebCalls>({
  fetch: 'POST /v1/web/fetch !',
  extract: 'POST /v1/web/extract !',
  crawl: 'POST /v1/web/crawl !',
  search: 'POST /v1/web/search !',
  takedown: 'POST /v1/web/takedown !',
})

export interface WebCrawlsCalls {
  /** Start a crawl in the background. */ create(body: { /** URLs at which the crawl starts. */ readonly seeds: readonly string[]; /** Whether to follow only links to the origins of the seeds. Default: true. */ readonly sameOrigin?: boolean; /** Whether to open the page in a browser and read what its scripts have made of it. `auto` does so if the page has scripts and almost no text of its own. Default: `false`. */ readonly render?: boolean | "auto"; /** Whether to start with the pages in the sitemaps of the seeds as well. */ readonly sitemap?: boolean; /** Maximum age in seconds of an indexed page that is not requested again. Default: 0: every page is requested, with a conditional request. */ readonly maxAge?: number; /** Maximum number of pages to read. Default: 100; at most 200. */ readonly maxPages?: number; /** Maximum number of links between a seed and a page. Default: 3; at most 10. */ readonly maxDepth?: number }, options?: CallOptions): Promise<WebCrawlJob>
  /** List crawls. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "crawling" | "completed" | "failed" | "cancelled" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly WebCrawlJob[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, WebCrawlJob>
  /** Retrieve a crawl. */ get(crawlId: string, options?: CallOptions): Promise<WebCrawlJob>
  /** Cancel a crawl. */ cancel(crawlId: string, options?: CallOptions): Promise<WebCrawlJob>
}

export const webCrawls = /* @__PURE__ */ resource<WebCrawlsCalls>({
  create: 'POST /v1/web/crawls !',
  list: 'GET /v1/web/crawls *cursor',
  get: 'GET /v1/web/crawls/{}',
  cancel: 'POST /v1/web/crawls/{}/cancel',
})

export interface WebTakedownsCalls {
  /** List removal requests. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "pending" | "removed" | "rejected" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly WebTakedown[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, WebTakedown>
  /** Retrieve a removal request. */ get(takedownId: string, options?: CallOptions): Promise<WebTakedown>
  /** Decide a removal request. */ decide(takedownId: string, body: { readonly decision: "remove" | "reject"; readonly reason?: string }, options?: CallOptions): Promise<WebTakedown>
}

export const webTakedowns = /* @__PURE__ */ resource<WebTakedownsCalls>({
  list: 'GET /v1/web/takedowns *cursor',
  get: 'GET /v1/web/takedowns/{}',
  decide: 'POST /v1/web/takedowns/{}/decision !',
})

export interface ConnectionsCalls {
  /** List connections. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "pending" | "active" | "expired" | "error" | "revoked"; readonly connector?: string; readonly owner_type?: "project" | "tenant" | "end_user"; readonly tenant_id?: string; /** Your own id of the end user. Needs `tenant_id`. */ readonly external_user_id?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly Connection[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, Connection>
  /** Retrieve a connection. */ get(toolConnectionId: string, options?: CallOptions): Promise<Connection>
  /** Update a connection. */ update(toolConnectionId: string, body?: { readonly name?: string; /** API key of the service. Stored encrypted and never shown. */ readonly api_key?: string; /** Target of a connection, and its OAuth client. */ readonly config?: ConnectionTargetInput }, options?: CallOptions): Promise<Connection>
  /** Revoke a connection. */ delete(toolConnectionId: string, options?: CallOptions): Promise<Connection>
  /** Refresh a connection. */ refresh(toolConnectionId: string, options?: CallOptions): Promise<Connection>
  /** Create a connection. */ create(body: { /** Id of the connector (`connectors.list`). */ readonly connector: string; /** Default: `end_user` with `external_user_id`, `tenant` with `tenant_id`, else `project`. */ readonly owner_type?: "project" | "tenant" | "end_user"; readonly tenant_id?: string | null; readonly external_user_id?: string | null; /** Default: the name of the connector. */ readonly name?: string; /** API key of the service. Stored encrypted and never shown. */ readonly api_key?: string; readonly test_only?: boolean; /** Target of a connection, and its OAuth client. */ readonly config?: ConnectionTargetInput }, options?: CallOptions): Promise<Connection>
  /** Authorize a connection. */ authorize(toolConnectionId: string, body?: { /** Your page to which the callback redirects, with `connection_id` and `status`. If the project has `return_urls`, it must match one of them. */ readonly redirect_uri?: string; /** Whether the sign-in must be confirmed. If true, the callback redirects to `redirect_uri` with `status=confirmation_required` and `sign_in`, and the sign-in is complete only after `connections.confirm`. Default: false. */ readonly confirm?: boolean; /** Default: the scopes of the connection. */ readonly scopes?: readonly string[] }, options?: CallOptions): Promise<{ /** URL where the owner signs in. */ readonly authorize_url: string; readonly expires_at: string }>
  /** Confirm a sign-in. */ confirm(toolConnectionId: string, body: { readonly sign_in: string; /** Id of the user who is signed in at your page, taken from your own session and not from request parameters. Required for a connection of an end user. */ readonly external_user_id?: string }, options?: CallOptions): Promise<Connection>
  /** Create a reconnect link. */ reconnect(toolConnectionId: string, options?: CallOptions): Promise<{ /** URL where the owner signs in. */ readonly authorize_url: string; readonly expires_at: string }>
  /** Test a connection. */ test(toolConnectionId: string, options?: CallOptions): Promise<ConnectionTest>
  /** List tools of a connection. */ tools(toolConnectionId: string, options?: CallOptions): Promise<{ readonly data: readonly ConnectionTool[] }>
}

export const connections = /* @__PURE__ */ resource<ConnectionsCalls>({
  list: 'GET /v1/connections *cursor',
  get: 'GET /v1/connections/{}',
  update: 'PATCH /v1/connections/{} !',
  delete: 'DELETE /v1/connections/{}',
  refresh: 'POST /v1/connections/{}/refresh',
  create: 'POST /v1/connections !',
  authorize: 'POST /v1/connections/{}/authorize !',
  confirm: 'POST /v1/connections/{}/confirm !',
  reconnect: 'POST /v1/connections/{}/reconnect',
  test: 'POST /v1/connections/{}/test',
  tools: 'GET /v1/connections/{}/tools',
})

export interface ConnectorsCalls {
  /** List connectors. */ list(options?: CallOptions): Promise<{ readonly data: readonly Connector[] }>
  /** Retrieve a connector. */ get(connectorId: string, options?: CallOptions): Promise<Connector>
  /** Set the OAuth client of a connector. */ credentials(connectorId: string, body: { readonly client_id?: string | null; /** Stored encrypted and never shown. If omitted, the stored secret of the same `client_id` is kept. */ readonly client_secret?: string }, options?: CallOptions): Promise<ConnectorCredentials>
}

export const connectors = /* @__PURE__ */ resource<ConnectorsCalls>({
  list: 'GET /v1/connectors',
  get: 'GET /v1/connectors/{}',
  credentials: 'PUT /v1/connectors/{}/credentials !',
})

export interface BrowserJobsCalls {
  /** Start a browser job. */ create(body: { /** Absolute URL of a page, `http` or `https`. */ readonly url: string; /** Actions in order, at most 20. The job fails at the first action that fails. */ readonly actions?: readonly BrowserActionInput[]; /** Whether to add a screenshot of the window to the result. */ readonly screenshot?: boolean; /** Whether to add the accessibility tree of the page to the result. */ readonly snapshot?: { /** Default: 4,000. */ readonly max_tokens?: number }; /** Page event that completes the navigation. Default: `load`. */ readonly waitUntil?: "load" | "domcontentloaded" | "networkidle"; /** Timeout of the navigation in milliseconds, from 5,000 to 60,000. Default: 30,000. */ readonly timeoutMs?: number; /** Size of the window in pixels. Default: 1280 by 800. */ readonly viewport?: { readonly width: number; readonly height: number }; /** Profile with cookies and storage to start with, stored under this name for the tenant or the project. With `save`, the resulting cookies and storage are stored back. */ readonly profile?: { readonly name: string; readonly save?: boolean } }, options?: CallOptions): Promise<BrowserJob>
  /** List browser jobs. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "queued" | "running" | "completed" | "failed" | "cancelled" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly BrowserJobSummary[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, BrowserJobSummary>
  /** Retrieve a browser job. */ get(jobId: string, options?: CallOptions): Promise<BrowserJob>
  /** Cancel a browser job. */ cancel(jobId: string, options?: CallOptions): Promise<BrowserJob>
  /** Continue a browser job. */ continue(jobId: string, body?: { /** Comment of the person, stored with the step and in the audit log. */ readonly note?: string }, options?: CallOptions): Promise<BrowserJob>
  /** Stream the page of a waiting browser job. */ live(jobId: string, query?: { readonly event_names?: "short" | "long"; readonly after?: number }, options?: CallOptions): Promise<Response>
  /** Send input to the page of a waiting browser job. */ input(jobId: string, body: { /** Input events, in order. */ readonly events: readonly BrowserInputInput[] }, options?: CallOptions): Promise<{ /** Number of events that were accepted. */ readonly accepted: number }>
  /** Retrieve the screenshot of a step. */ picture(jobId: string, index: string, options?: CallOptions): Promise<Response>
}

export const browserJobs = /* @__PURE__ */ resource<BrowserJobsCalls>({
  create: 'POST /v1/web/browse !',
  list: 'GET /v1/web/browse *cursor',
  get: 'GET /v1/web/browse/{}',
  cancel: 'POST /v1/web/browse/{}/cancel',
  continue: 'POST /v1/web/browse/{}/continue !',
  live: 'GET /v1/web/browse/{}/live ?',
  input: 'POST /v1/web/browse/{}/input !',
  picture: 'GET /v1/web/browse/{}/steps/{}/screenshot',
})

export interface BrowserProfilesCalls {
  /** List browser profiles. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly BrowserProfile[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, BrowserProfile>
  /** Delete a browser profile. */ delete(profileId: string, options?: CallOptions): Promise<{ readonly id: string; readonly deleted: boolean }>
}

export const browserProfiles = /* @__PURE__ */ resource<BrowserProfilesCalls>({
  list: 'GET /v1/web/profiles *cursor',
  delete: 'DELETE /v1/web/profiles/{}',
})

export interface McpServersCalls {
  /** Register a remote tool server. */ create(body: { /** Name of the server. It prefixes the names of its tools as models see them. */ readonly name: string; /** Endpoint of the server. */ readonly url: string; /** Tenant that the server belongs to. */ readonly tenant_id?: string; /** `auto`: streamable HTTP, with a fallback to the older SSE transport. */ readonly transport?: "auto" | "streamable_http" | "sse"; /** Milliseconds until a call fails. */ readonly timeout_ms?: number; /** Headers to send with each request, such as `authorization`. Write-only. */ readonly headers?: { readonly [name: string]: string }; /** Connection whose token is sent with each call. For connections of end users, it is that of the user whose session or run makes the call. The token is sent only to the origin for which the connection was set; with `type`, only to the `url` of the server. */ readonly auth?: { /** `oauth`: `owner` signs in to the server itself, whose authorization server is found by discovery. A connection of the connector `mcp` is created for it. */ readonly type?: "oauth"; /** Id of the connection. With `owner`, it is the template for the connections of other owners. */ readonly connection_id?: string; /** Id of the connector for which `owner` has a connection. */ readonly connector?: string; /** Whose connection is used: that of the tenant or end user whose session or run makes the call, or that of the project. Default with `type`: `tenant` for a server of a tenant, else `project`. */ readonly owner?: "project" | "tenant" | "end_user"; /** Id of your client at the authorization server. Only with `type`. If omitted, a client is registered, or the metadata document of this server is used (`connections.client_metadata`). */ readonly client_id?: string; /** Secret of your client. Only with `type`. Stored encrypted and never returned. */ readonly client_secret?: string; /** Authentication method at the token endpoint. Only with `type`. Default: the first that the authorization server supports. */ readonly token_auth_method?: "client_secret_basic" | "client_secret_post" | "none"; /** The only authorization server that is used. Only with `type`. Default: the first that the server names. */ readonly issuer?: string; /** Scopes that are always requested. Only with `type`. Default: those that the server requires. */ readonly scopes?: readonly string[] }; /** Whether the tools of the first discovery are activated without a review. Tools that are added or changed later are pending review. */ readonly trust?: boolean }, options?: CallOptions): Promise<McpServerWithTools>
  /** List remote tool servers. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly status?: "discovering" | "active" | "failing" | "disabled" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly McpServer[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, McpServer>
  /** Retrieve a remote tool server. */ get(serverId: string, options?: CallOptions): Promise<McpServer>
  /** Update a remote tool server. */ update(serverId: string, body?: { /** Name of the server. It prefixes the names of its tools as models see them. */ readonly name?: string; /** Endpoint of the server. */ readonly url?: string; /** `auto`: streamable HTTP, with a fallback to the older SSE transport. */ readonly transport?: "auto" | "streamable_http" | "sse"; /** Milliseconds until a call fails. */ readonly timeout_ms?: number; /** Replaces all headers. Null removes them. */ readonly headers?: { readonly [name: string]: string } | null; /** Connection whose token is sent with each call. For connections of end users, it is that of the user whose session or run makes the call. The token is sent only to the origin for which the connection was set; with `type`, only to the `url` of the server. */ readonly auth?: { /** `oauth`: `owner` signs in to the server itself, whose authorization server is found by discovery. A connection of the connector `mcp` is created for it. */ readonly type?: "oauth"; /** Id of the connection. With `owner`, it is the template for the connections of other owners. */ readonly connection_id?: string; /** Id of the connector for which `owner` has a connection. */ readonly connector?: string; /** Whose connection is used: that of the tenant or end user whose session or run makes the call, or that of the project. Default with `type`: `tenant` for a server of a tenant, else `project`. */ readonly owner?: "project" | "tenant" | "end_user"; /** Id of your client at the authorization server. Only with `type`. If omitted, a client is registered, or the metadata document of this server is used (`connections.client_metadata`). */ readonly client_id?: string; /** Secret of your client. Only with `type`. Stored encrypted and never returned. */ readonly client_secret?: string; /** Authentication method at the token endpoint. Only with `type`. Default: the first that the authorization server supports. */ readonly token_auth_method?: "client_secret_basic" | "client_secret_post" | "none"; /** The only authorization server that is used. Only with `type`. Default: the first that the server names. */ readonly issuer?: string; /** Scopes that are always requested. Only with `type`. Default: those that the server requires. */ readonly scopes?: readonly string[] } | null; /** `false` disables the server; `true` re-enables it. */ readonly enabled?: boolean }, options?: CallOptions): Promise<McpServer>
  /** Disable a remote tool server. */ delete(serverId: string, options?: CallOptions): Promise<McpServer>
  /** Refresh the tools of a remote tool server. */ refreshTools(serverId: string, options?: CallOptions): Promise<{ readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly ({ readonly name: string; readonly changes: readonly ({ /** Path in the definition, such as `input_schema.properties.to.type`. */ readonly path: string; readonly before: unknown; readonly after: unknown })[] })[]; /** Tools that were skipped: `invalid_name`, `duplicate_name`, `invalid_schema`, `schema_too_large`, `description_too_long` or `hidden_characters`. */ readonly skipped: readonly ({ readonly name: string; readonly reason: string })[]; readonly tools: readonly McpTool[]; readonly hash: string | null; readonly snapshot_at: string | null }>
  /** Test a remote tool server. */ test(serverId: string, options?: CallOptions): Promise<{ readonly ok: boolean; readonly latency_ms: number; readonly error: { readonly code: string; readonly message: string } | null; readonly protocol_version: string | null; readonly transport_used: "streamable_http" | "sse" | null; readonly server_info: { readonly [name: string]: unknown } | null; readonly tool_count: number; /** Resources that the server lists, at most 100. */ readonly resources: readonly ({ readonly [name: string]: unknown })[]; /** Prompts that the server lists, at most 100. */ readonly prompts: readonly ({ readonly [name: string]: unknown })[] }>
  /** List the tools of a remote tool server. */ tools(serverId: string, query?: { readonly state?: "active" | "pending_review" | "disabled" }, options?: CallOptions): Promise<{ readonly tools: readonly McpTool[]; readonly snapshot_at: string | null; readonly hash: string | null; readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly ({ readonly name: string; readonly changes: readonly ({ /** Path in the definition, such as `input_schema.properties.to.type`. */ readonly path: string; readonly before: unknown; readonly after: unknown })[] })[]; /** Tools that were skipped: `invalid_name`, `duplicate_name`, `invalid_schema`, `schema_too_large`, `description_too_long` or `hidden_characters`. */ readonly skipped: readonly ({ readonly name: string; readonly reason: string })[] }>
  /** List the resources of a remote tool server. */ resources(serverId: string, options?: CallOptions): Promise<{ readonly resources: readonly McpResource[]; readonly resource_templates: readonly McpResourceTemplate[]; /** Number of entries that were dropped from all lists: beyond 500 per list, too long, or with hidden text. */ readonly left_out: number; /** Lists that the server announces but failed to return. */ readonly unread: readonly string[]; readonly snapshot_at: string | null }>
  /** Read a resource of a remote tool server. */ readResource(serverId: string, body: { readonly uri: string }, options?: CallOptions): Promise<{ readonly contents: readonly McpResourceContent[] }>
  /** List the prompts of a remote tool server. */ prompts(serverId: string, options?: CallOptions): Promise<{ readonly prompts: readonly McpPrompt[]; /** Lists that the server announces but failed to return. */ readonly unread: readonly string[]; readonly snapshot_at: string | null }>
  /** Fill a prompt of a remote tool server. */ fillPrompt(serverId: string, body: { readonly name: string; readonly arguments?: { readonly [name: string]: string } }, options?: CallOptions): Promise<{ readonly description: string | null; readonly messages: readonly ({ readonly role: "user" | "assistant"; readonly text: string })[] }>
  /** Review a tool of a remote tool server. */ reviewTool(serverId: string, toolName: string, body: { readonly decision: "approve" | "reject"; readonly reason?: string; /** Hash of the definition that you reviewed. If the definition has changed since, the request is refused. */ readonly hash?: string }, options?: CallOptions): Promise<McpTool>
}

export const mcpServers = /* @__PURE__ */ resource<McpServersCalls>({
  create: 'POST /v1/mcp/servers !',
  list: 'GET /v1/mcp/servers *cursor',
  get: 'GET /v1/mcp/servers/{}',
  update: 'PATCH /v1/mcp/servers/{} !',
  delete: 'DELETE /v1/mcp/servers/{}',
  refreshTools: 'POST /v1/mcp/servers/{}/refresh-tools',
  test: 'POST /v1/mcp/servers/{}/test',
  tools: 'GET /v1/mcp/servers/{}/tools ?',
  resources: 'GET /v1/mcp/servers/{}/resources',
  readResource: 'POST /v1/mcp/servers/{}/resources/read !',
  prompts: 'GET /v1/mcp/servers/{}/prompts',
  fillPrompt: 'POST /v1/mcp/servers/{}/prompts/fill !',
  reviewTool: 'POST /v1/mcp/servers/{}/tools/{}/review !',
})

export interface StuckCalls {
  /** List stuck work. */ list(query?: { /** Maximum number of items on a page. */ readonly limit?: number; /** Where the page starts: `next_cursor` of the previous page. Default: the first page. */ readonly cursor?: string; readonly kind?: "parked_actor" | "poison_message" | "poison_result" | "refused_row" | "failing_reminder" | "overdue_effect" | "unfinished_commit" }, options?: CallOptions): Pages<{ /** Items of this page. */ readonly data: readonly StuckWork[]; /** Value to send as `cursor` for the next page; null on the last page. */ readonly next_cursor: string | null }, StuckWork>
  /** Retrieve stuck work. */ get(stuckId: string, options?: CallOptions): Promise<StuckWork>
  /** Retry stuck work. */ retry(stuckId: string, body?: { /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<StuckDecision>
  /** Skip stuck work. */ skip(stuckId: string, body: { readonly event: { readonly type: string }; /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<StuckDecision>
  /** Discard stuck work. */ discard(stuckId: string, body?: { /** Reason for the audit log. */ readonly reason?: string }, options?: CallOptions): Promise<StuckDecision>
}

export const stuck = /* @__PURE__ */ resource<StuckCalls>({
  list: 'GET /v1/stuck *cursor',
  get: 'GET /v1/stuck/{}',
  retry: 'POST /v1/stuck/{}/retry !',
  skip: 'POST /v1/stuck/{}/skip !',
  discard: 'POST /v1/stuck/{}/discard !',
})

export interface RetentionSettingsCalls {
  /** Retrieve the retention settings of the project. */ get(options?: CallOptions): Promise<RetentionSettings>
  /** Update the retention settings of the project. */ put(body?: { /** Days after their last change for which sessions, with their events and actions, are kept. Null keeps them indefinitely. */ readonly sessions_days?: number | null; /** Days after their last change for which runs, with their events and actions, are kept. Null keeps them indefinitely. */ readonly runs_days?: number | null; /** Days after their last change for which standalone actions, which belong to no session or run, are kept. Null keeps them indefinitely. */ readonly actions_days?: number | null }, options?: CallOptions): Promise<RetentionSettings>
}

export const retentionSettings = /* @__PURE__ */ resource<RetentionSettingsCalls>({
  get: 'GET /v1/retention-settings',
  put: 'PUT /v1/retention-settings !',
})

/** An event that a webhook gets. */
export type WebhookEvent =
  | { readonly type: 'run.queued'; readonly timestamp: string; readonly data: { readonly run_id: string; readonly agent_id: string; readonly installation_id: string | null; readonly parent_run_id: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly tenant_id: string | null } }
  | { readonly type: 'run.started'; readonly timestamp: string; readonly data: { readonly run_id: string; readonly agent_id: string; readonly installation_id: string | null; readonly parent_run_id: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly tenant_id: string | null } }
  | { readonly type: 'run.requires_action'; readonly timestamp: string; readonly data: { readonly run_id: string; readonly agent_id: string; readonly installation_id: string | null; readonly parent_run_id: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly tenant_id: string | null; readonly action_ids: readonly string[] } }
  | { readonly type: 'run.completed'; readonly timestamp: string; readonly data: { readonly run_id: string; readonly agent_id: string; readonly installation_id: string | null; readonly parent_run_id: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly tenant_id: string | null; readonly output: { readonly [name: string]: unknown } | null; readonly usage: { readonly [name: string]: unknown } } }
  | { readonly type: 'run.failed'; readonly timestamp: string; readonly data: { readonly run_id: string; readonly agent_id: string; readonly installation_id: string | null; readonly parent_run_id: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly tenant_id: string | null; readonly error: { readonly code: string; readonly message: string } | null; readonly usage: { readonly [name: string]: unknown } } }
  | { readonly type: 'run.cancelled'; readonly timestamp: string; readonly data: { readonly run_id: string; readonly agent_id: string; readonly installation_id: string | null; readonly parent_run_id: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly tenant_id: string | null; readonly usage: { readonly [name: string]: unknown } } }
  | { readonly type: 'run.expired'; readonly timestamp: string; readonly data: { readonly run_id: string; readonly agent_id: string; readonly installation_id: string | null; readonly parent_run_id: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly tenant_id: string | null; readonly usage: { readonly [name: string]: unknown } } }
  | { readonly type: 'action.created'; readonly timestamp: string; readonly data: { readonly action_id: string; readonly tool: string; readonly risk_level: "low" | "medium" | "high" | "critical"; readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; readonly run_id: string | null; readonly session_id: string | null; readonly tenant_id: string | null } }
  | { readonly type: 'action.input_required'; readonly timestamp: string; readonly data: { readonly action_id: string; readonly tool: string; readonly risk_level: "low" | "medium" | "high" | "critical"; readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; readonly run_id: string | null; readonly session_id: string | null; readonly tenant_id: string | null } }
  | { readonly type: 'action.approved'; readonly timestamp: string; readonly data: { readonly action_id: string; readonly tool: string; readonly risk_level: "low" | "medium" | "high" | "critical"; readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; readonly run_id: string | null; readonly session_id: string | null; readonly tenant_id: string | null; readonly resolved_by: string | null } }
  | { readonly type: 'action.rejected'; readonly timestamp: string; readonly data: { readonly action_id: string; readonly tool: string; readonly risk_level: "low" | "medium" | "high" | "critical"; readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; readonly run_id: string | null; readonly session_id: string | null; readonly tenant_id: string | null; readonly resolved_by: string | null } }
  | { readonly type: 'action.executed'; readonly timestamp: string; readonly data: { readonly action_id: string; readonly tool: string; readonly risk_level: "low" | "medium" | "high" | "critical"; readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; readonly run_id: string | null; readonly session_id: string | null; readonly tenant_id: string | null } }
  | { readonly type: 'action.failed'; readonly timestamp: string; readonly data: { readonly action_id: string; readonly tool: string; readonly risk_level: "low" | "medium" | "high" | "critical"; readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; readonly run_id: string | null; readonly session_id: string | null; readonly tenant_id: string | null; readonly error: { readonly code: string; readonly message: string } | null } }
  | { readonly type: 'action.expired'; readonly timestamp: string; readonly data: { readonly action_id: string; readonly tool: string; readonly risk_level: "low" | "medium" | "high" | "critical"; readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; readonly run_id: string | null; readonly session_id: string | null; readonly tenant_id: string | null } }
  | { readonly type: 'agent_version.created'; readonly timestamp: string; readonly data: { readonly version_id: string; readonly agent_id: string; readonly version: string; readonly status: "draft" | "in_review" | "published" | "deprecated" | "retired"; readonly tenant_id: string | null } }
  | { readonly type: 'agent_version.submitted'; readonly timestamp: string; readonly data: { readonly version_id: string; readonly agent_id: string; readonly version: string; readonly status: "draft" | "in_review" | "published" | "deprecated" | "retired"; readonly tenant_id: string | null } }
  | { readonly type: 'agent_version.published'; readonly timestamp: string; readonly data: { readonly version_id: string; readonly agent_id: string; readonly version: string; readonly status: "draft" | "in_review" | "published" | "deprecated" | "retired"; readonly tenant_id: string | null } }
  | { readonly type: 'agent_version.rejected'; readonly timestamp: string; readonly data: { readonly version_id: string; readonly agent_id: string; readonly version: string; readonly status: "draft" | "in_review" | "published" | "deprecated" | "retired"; readonly tenant_id: string | null; readonly reason: string | null } }
  | { readonly type: 'agent_version.deprecated'; readonly timestamp: string; readonly data: { readonly version_id: string; readonly agent_id: string; readonly version: string; readonly status: "draft" | "in_review" | "published" | "deprecated" | "retired"; readonly tenant_id: string | null } }
  | { readonly type: 'agent_version.retired'; readonly timestamp: string; readonly data: { readonly version_id: string; readonly agent_id: string; readonly version: string; readonly status: "draft" | "in_review" | "published" | "deprecated" | "retired"; readonly tenant_id: string | null } }
  | { readonly type: 'installation.created'; readonly timestamp: string; readonly data: { readonly installation_id: string; readonly agent_id: string; readonly version: string | null; readonly status: "active" | "disabled"; readonly tenant_id: string | null } }
  | { readonly type: 'installation.updated'; readonly timestamp: string; readonly data: { readonly installation_id: string; readonly agent_id: string; readonly version: string | null; readonly status: "active" | "disabled"; readonly tenant_id: string | null } }
  | { readonly type: 'installation.upgraded'; readonly timestamp: string; readonly data: { readonly installation_id: string; readonly agent_id: string; readonly version: string | null; readonly status: "active" | "disabled"; readonly tenant_id: string | null; readonly previous_version: string | null } }
  | { readonly type: 'installation.rolled_back'; readonly timestamp: string; readonly data: { readonly installation_id: string; readonly agent_id: string; readonly version: string | null; readonly status: "active" | "disabled"; readonly tenant_id: string | null; readonly previous_version: string | null } }
  | { readonly type: 'installation.disabled'; readonly timestamp: string; readonly data: { readonly installation_id: string; readonly agent_id: string; readonly version: string | null; readonly status: "active" | "disabled"; readonly tenant_id: string | null } }
  | { readonly type: 'tenant.created'; readonly timestamp: string; readonly data: { readonly tenant_id: string | null; readonly external_id: string; readonly status: "active" | "suspended" | "deleting" | "deleted" } }
  | { readonly type: 'tenant.updated'; readonly timestamp: string; readonly data: { readonly tenant_id: string | null; readonly external_id: string; readonly status: "active" | "suspended" | "deleting" | "deleted" } }
  | { readonly type: 'tenant.suspended'; readonly timestamp: string; readonly data: { readonly tenant_id: string | null; readonly external_id: string; readonly status: "active" | "suspended" | "deleting" | "deleted" } }
  | { readonly type: 'tenant.resumed'; readonly timestamp: string; readonly data: { readonly tenant_id: string | null; readonly external_id: string; readonly status: "active" | "suspended" | "deleting" | "deleted" } }
  | { readonly type: 'tenant.deleting'; readonly timestamp: string; readonly data: { readonly tenant_id: string | null; readonly external_id: string; readonly status: "active" | "suspended" | "deleting" | "deleted" } }
  | { readonly type: 'tenant.deleted'; readonly timestamp: string; readonly data: { readonly external_id: string; readonly tenant_id: string | null } }
  | { readonly type: 'memory.write.succeeded'; readonly timestamp: string; readonly data: { readonly write_id: string; readonly source: string; readonly tenant_id: string | null; readonly extracted: number; readonly written: number } }
  | { readonly type: 'memory.write.failed'; readonly timestamp: string; readonly data: { readonly write_id: string; readonly source: string; readonly tenant_id: string | null; readonly error: { readonly code: string; readonly message: string } | null } }
  | { readonly type: 'knowledge_source.synced'; readonly timestamp: string; readonly data: { readonly source_id: string; readonly knowledge_base_id: string; readonly type: "text" | "file" | "url"; readonly tenant_id: string | null; readonly checksum: string; readonly added: number; readonly removed: number; readonly unchanged: number } }
  | { readonly type: 'knowledge_source.failed'; readonly timestamp: string; readonly data: { readonly source_id: string; readonly knowledge_base_id: string; readonly type: "text" | "file" | "url"; readonly tenant_id: string | null; readonly error: { readonly code: string; readonly message: string } | null } }
  | { readonly type: 'connection.expired'; readonly timestamp: string; readonly data: { readonly connection_id: string; readonly connector: string; readonly name: string; readonly owner_type: "project" | "tenant" | "end_user"; readonly error: { readonly code: string; readonly message: string } | null; readonly tenant_id: string | null } }
  | { readonly type: 'connection.recovered'; readonly timestamp: string; readonly data: { readonly connection_id: string; readonly connector: string; readonly name: string; readonly owner_type: "project" | "tenant" | "end_user"; readonly error: { readonly code: string; readonly message: string } | null; readonly tenant_id: string | null } }
  | { readonly type: 'mcp_server.tools_changed'; readonly timestamp: string; readonly data: { readonly server_id: string; readonly name: string; readonly url: string; readonly tenant_id: string | null; readonly added: readonly string[]; readonly removed: readonly string[]; readonly changed: readonly string[] } }
  | { readonly type: 'mcp_server.failed'; readonly timestamp: string; readonly data: { readonly server_id: string; readonly name: string; readonly url: string; readonly tenant_id: string | null; readonly error: { readonly code: string; readonly message: string } | null } }
  | { readonly type: 'mcp_server.recovered'; readonly timestamp: string; readonly data: { readonly server_id: string; readonly name: string; readonly url: string; readonly tenant_id: string | null } }
  | { readonly type: 'web.crawl.completed'; readonly timestamp: string; readonly data: { readonly crawl_id: string; readonly indexed: number; readonly skipped: number; readonly failed: number; readonly tenant_id: string | null } }
  | { readonly type: 'web.crawl.failed'; readonly timestamp: string; readonly data: { readonly crawl_id: string; readonly indexed: number; readonly skipped: number; readonly failed: number; readonly tenant_id: string | null; readonly error: { readonly code: string; readonly message: string } | null } }
  | { readonly type: 'web.crawl.cancelled'; readonly timestamp: string; readonly data: { readonly crawl_id: string; readonly indexed: number; readonly skipped: number; readonly failed: number; readonly tenant_id: string | null } }
  | { readonly type: 'web.browse.waiting'; readonly timestamp: string; readonly data: { readonly job_id: string; readonly url: string; readonly message: string | null; readonly timeout_ms: number; readonly tenant_id: string | null } }
  | { readonly type: 'webhook.test'; readonly timestamp: string; readonly data: { readonly webhook_id: string; readonly message: string; readonly tenant_id: string | null } }

export type AuditLine = { readonly id: string; /** Operation, such as `tenant.updated`. */ readonly action: string; /** Credential that made the change. */ readonly actor: { /** Kind of the credential. */ readonly kind: string; /** Id of the key or member; for an end user, a hash. */ readonly id: string | null; /** IP address of the caller; null for an end user. */ readonly ip: string | null }; /** Resource that was changed. */ readonly resource: { readonly type: string; readonly id: string; /** Name of the tool, for an action; otherwise null. */ readonly name: string | null }; /** Tenant of the resource. */ readonly tenant_id: string | null; /** Names of the changed fields, without their values. */ readonly changes: readonly string[]; /** Reason given by the person who made the change. */ readonly reason: string | null; readonly created_at: string }

export type Tenant = { readonly id: string; /** Your own id of the tenant. */ readonly external_id: string; readonly name: string; readonly status: "active" | "suspended" | "deleting" | "deleted"; readonly region: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type DeletedTenant = { readonly id: string; /** Your own id of the tenant. */ readonly external_id: string; readonly name: string; readonly status: "active" | "suspended" | "deleting" | "deleted"; readonly region: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string; readonly deleted: true }

export type TenantExport = { /** One of your customers. Its users, sessions and usage are kept apart from those of other tenants. */ readonly tenant: Tenant; readonly users: readonly ({ readonly [name: string]: unknown })[]; readonly sessions: readonly ({ readonly [name: string]: unknown })[]; readonly runs: readonly ({ readonly [name: string]: unknown })[]; readonly actions: readonly ({ readonly [name: string]: unknown })[]; readonly memories: readonly ({ readonly [name: string]: unknown })[]; readonly knowledge: readonly ({ readonly [name: string]: unknown })[]; readonly usage: readonly ({ readonly [name: string]: unknown })[]; readonly exported_at: string }

export type TenantUser = { readonly id: string; readonly tenant_id: string; /** Your own id of the user. */ readonly external_user_id: string; readonly display_name: string | null; readonly email: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type EndUser = { readonly id: string; /** Your own id of the user. */ readonly external_id: string; readonly display_name: string | null; readonly email: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type Webhook = { readonly id: string; readonly name: string; readonly url: string; /** Event types to send; `*` for all. */ readonly events: readonly ("*" | "run.queued" | "run.started" | "run.requires_action" | "run.completed" | "run.failed" | "run.cancelled" | "run.expired" | "action.created" | "action.input_required" | "action.approved" | "action.rejected" | "action.executed" | "action.failed" | "action.expired" | "agent_version.created" | "agent_version.submitted" | "agent_version.published" | "agent_version.rejected" | "agent_version.deprecated" | "agent_version.retired" | "installation.created" | "installation.updated" | "installation.upgraded" | "installation.rolled_back" | "installation.disabled" | "tenant.created" | "tenant.updated" | "tenant.suspended" | "tenant.resumed" | "tenant.deleting" | "tenant.deleted" | "memory.write.succeeded" | "memory.write.failed" | "knowledge_source.synced" | "knowledge_source.failed" | "connection.expired" | "connection.recovered" | "mcp_server.tools_changed" | "mcp_server.failed" | "mcp_server.recovered" | "web.crawl.completed" | "web.crawl.failed" | "web.crawl.cancelled" | "web.browse.waiting" | "webhook.test")[]; readonly is_active?: boolean; /** Reason for which the server deactivated the webhook: it failed for 5 days, or responded with 410. */ readonly disabled_reason: "failing" | "gone" | null; /** Time of the first failure since the last success. */ readonly failing_since: string | null; /** Time until which the previous secret is used as well. */ readonly previous_secret_expires_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type WebhookShown = { readonly id: string; readonly name: string; readonly url: string; /** Event types to send; `*` for all. */ readonly events: readonly ("*" | "run.queued" | "run.started" | "run.requires_action" | "run.completed" | "run.failed" | "run.cancelled" | "run.expired" | "action.created" | "action.input_required" | "action.approved" | "action.rejected" | "action.executed" | "action.failed" | "action.expired" | "agent_version.created" | "agent_version.submitted" | "agent_version.published" | "agent_version.rejected" | "agent_version.deprecated" | "agent_version.retired" | "installation.created" | "installation.updated" | "installation.upgraded" | "installation.rolled_back" | "installation.disabled" | "tenant.created" | "tenant.updated" | "tenant.suspended" | "tenant.resumed" | "tenant.deleting" | "tenant.deleted" | "memory.write.succeeded" | "memory.write.failed" | "knowledge_source.synced" | "knowledge_source.failed" | "connection.expired" | "connection.recovered" | "mcp_server.tools_changed" | "mcp_server.failed" | "mcp_server.recovered" | "web.crawl.completed" | "web.crawl.failed" | "web.crawl.cancelled" | "web.browse.waiting" | "webhook.test")[]; readonly is_active?: boolean; /** Reason for which the server deactivated the webhook: it failed for 5 days, or responded with 410. */ readonly disabled_reason: "failing" | "gone" | null; /** Time of the first failure since the last success. */ readonly failing_since: string | null; /** Time until which the previous secret is used as well. */ readonly previous_secret_expires_at: string | null; /** Signing secret, shown once. */ readonly secret: string; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type WebhookDelivery = { readonly id: string; readonly webhook_id: string; /** Id of the event: the header `webhook-id`, the same in every delivery and replay. */ readonly event_id: string; readonly event_type: string; readonly tenant_id: string | null; readonly status: "pending" | "delivered" | "failed"; readonly attempt_count: number; readonly last_status_code: number | null; /** Reason of the last failure: `url_refused` (the address is not public, and `ALLOWED_PRIVATE_HOSTS` does not list it), `unreachable`, `connection_lost` (the connection ended without a response; the endpoint may have the event), `timeout`, `redirect_refused` or `http_error` (a status other than 2xx), `webhook_deleted` or `webhook_disabled`. */ readonly last_error: string | null; /** Time of the next attempt: after a failed attempt, or when too many deliveries wait for the webhook. */ readonly next_attempt_at: string | null; readonly replay_of: string | null; readonly created_at: string; readonly updated_at: string }

export type WebhookPayload = { readonly type: string; readonly timestamp: string; readonly data: { readonly [name: string]: unknown } }

export type WebhookAttempt = { readonly attempt: number; readonly at: string; readonly duration_ms: number; readonly url: string; readonly status_code: number | null; /** Reason of the failure: `url_refused` (the address is not public, and `ALLOWED_PRIVATE_HOSTS` does not list it), `unreachable`, `connection_lost` (the connection ended without a response; the endpoint may have the event), `timeout`, `redirect_refused` or `http_error` (a status other than 2xx). */ readonly error: string | null; readonly request_headers: { readonly [name: string]: unknown }; /** Headers of the response; null without a response. */ readonly response_headers: { readonly [name: string]: unknown } | null; /** Body of the response: at most 2048 bytes, with secrets masked. */ readonly response_body: unknown }

export type WebhookDeliveryWithLog = { readonly id: string; readonly webhook_id: string; /** Id of the event: the header `webhook-id`, the same in every delivery and replay. */ readonly event_id: string; readonly event_type: string; readonly tenant_id: string | null; readonly status: "pending" | "delivered" | "failed"; readonly attempt_count: number; readonly last_status_code: number | null; /** Reason of the last failure: `url_refused` (the address is not public, and `ALLOWED_PRIVATE_HOSTS` does not list it), `unreachable`, `connection_lost` (the connection ended without a response; the endpoint may have the event), `timeout`, `redirect_refused` or `http_error` (a status other than 2xx), `webhook_deleted` or `webhook_disabled`. */ readonly last_error: string | null; /** Time of the next attempt: after a failed attempt, or when too many deliveries wait for the webhook. */ readonly next_attempt_at: string | null; readonly replay_of: string | null; readonly created_at: string; readonly updated_at: string; readonly payload: WebhookPayload; readonly attempts: readonly WebhookAttempt[] }

export type Model = { readonly id: string; readonly object: "model"; readonly created: number; readonly owned_by: string; readonly name: string; readonly description: string; readonly provider: string; readonly source: "service" | "byok" | "custom"; readonly connection_id: string | null; readonly type: string; readonly types: readonly string[]; readonly context_window: number; readonly status: "active" | "deprecated"; /** Whether the model can currently be called at the endpoint for its type. */ readonly available: boolean; readonly unavailable_reason: "provider_not_configured" | "no_endpoint" | null; readonly pricing_status: "priced" | "nominal" | "unknown" }

export type ListedProvider = { /** As `provider` of the models. */ readonly id: string; readonly name: string; /** SVG image; null for a provider of the project. */ readonly logo_url: string | null }

export type ProviderConnection = { readonly id: string; readonly name: string; /** Id of a provider (`catalogue.providers`), or your own name for another server, which requires `base_url`. */ readonly provider: string; readonly api_format: "openai" | "anthropic" | "google" | "perplexity" | "elevenlabs" | "deepgram" | "cartesia" | "spitch" | "azure" | "bedrock" | "vertex"; /** URL of the server up to the version segment. Default: the provider's own. */ readonly base_url: string | null; /** Where a cloud serves the models of a connection. */ readonly settings: { /** Azure OpenAI: name of the resource, the first label of its host. */ readonly resource?: string; /** Azure OpenAI: a dated version of the API, which calls deployments by their own URLs. Default: the v1 API. */ readonly api_version?: string; /** Azure OpenAI: name of the deployment of each model. Default: a deployment has the name of its model. */ readonly deployments?: { readonly [name: string]: string }; /** Amazon Bedrock: AWS region, such as `us-east-1`. */ readonly region?: string; /** Vertex AI: id of the Google Cloud project. */ readonly project_id?: string; /** Vertex AI: location, such as `us-central1` or `global`. */ readonly location?: string; /** Cloudflare: id of the account. */ readonly account_id?: string } | null; /** Last four characters of the key; empty if the key is too short. */ readonly key_last4: string; /** Whether requests are routed to the connection. */ readonly is_active?: boolean; /** Whether calls are retried with the installation's own key when the connection fails. */ readonly fallback_to_managed?: boolean; /** Your own prices, which replace the list prices in budgets and usage. Null for list prices. */ readonly prices: { /** Price in USD per million input tokens. */ readonly input_per_million_usd?: string | null; /** Price in USD per million output tokens. */ readonly output_per_million_usd?: string | null; /** Price in USD per million cached input tokens. Default: the price of other input tokens. */ readonly cached_input_per_million_usd?: string | null; /** Price in USD per million characters converted to speech. */ readonly characters_per_million_usd?: string | null; /** Price in USD per minute of transcribed audio. */ readonly audio_minute_usd?: string | null; /** Price in USD per image. */ readonly image_usd?: string | null; /** Price in USD per call, in addition to its tokens. */ readonly call_usd?: string | null } | null; /** Result of the last test. */ readonly status: "untested" | "ok" | "failed"; readonly last_tested_at: string | null; /** Id of the latest applied model sync. Its models are the models of the connection. */ readonly model_sync_id: string | null; readonly model_count: number; /** Timeout in milliseconds until the first byte of an answer. Default: that of the installation, 600,000. */ readonly first_byte_timeout_ms: number | null; /** Timeout in milliseconds between bytes of an answer. Default: that of the installation, 120,000. */ readonly idle_timeout_ms: number | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type ProviderCredentialsInput = { /** Azure OpenAI: id or domain of the Entra tenant. */ readonly tenant_id?: string; /** Azure OpenAI: id of the Entra application. */ readonly client_id?: string; /** Azure OpenAI: secret of the Entra application. */ readonly client_secret?: string; /** Azure OpenAI: URL of Entra in another cloud. Default: `https://login.microsoftonline.com`. */ readonly authority?: string; /** Amazon Bedrock: id of the access key. */ readonly access_key_id?: string; /** Amazon Bedrock: the access key. */ readonly secret_access_key?: string; /** Amazon Bedrock: token of temporary credentials. */ readonly session_token?: string; /** Vertex AI: the key file of a service account, as the JSON text that Google issues. */ readonly service_account?: string }

export type ProviderValidation = { readonly valid: boolean; readonly provider: string; readonly api_format: "openai" | "anthropic" | "google" | "perplexity" | "elevenlabs" | "deepgram" | "cartesia" | "spitch" | "azure" | "bedrock" | "vertex"; readonly latency_ms: number; /** Number of models that the provider lists for this key. */ readonly model_count: number; /** An error of a provider. */ readonly error: { readonly code: "key_refused" | "address_refused" | "timeout" | "unreachable" | "provider_error" | "unreadable" | "no_list"; readonly message: string } | null }

export type ProviderTest = { readonly success: boolean; readonly status: "ok" | "failed"; readonly latency_ms: number; /** Number of models that the provider lists for this key. */ readonly model_count: number; /** An error of a provider. */ readonly error: { readonly code: "key_refused" | "address_refused" | "timeout" | "unreachable" | "provider_error" | "unreadable" | "no_list"; readonly message: string } | null }

export type SyncedModel = { readonly id: string; readonly name: string; /** Context window in tokens; 0 if unknown. */ readonly context_window: number }

export type ChangedModel = { readonly id: string; readonly name: string; /** Context window in tokens; 0 if unknown. */ readonly context_window: number; readonly previous: { readonly name: string; readonly context_window: number } }

export type ModelSync = { readonly id: string; readonly connection_id: string; readonly status: "preview" | "applied"; readonly added: readonly SyncedModel[]; readonly removed: readonly SyncedModel[]; readonly changed: readonly ChangedModel[]; /** Number of models after the sync is applied. */ readonly model_count: number; readonly applied_at: string | null; /** Time at which an unapplied preview is deleted. */ readonly expires_at: string | null; readonly created_at: string; readonly updated_at: string }

export type ChatTextPartInput = { readonly type: "text"; readonly text: string; /** Cache breakpoint for the provider's prompt cache. */ readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" } | null }

export type ChatImagePartInput = { readonly type: "image_url"; readonly image_url: { /** Address of the image, or a data URL. */ readonly url: string; readonly detail?: "auto" | "low" | "high" } }

export type ChatAudioPartInput = { readonly type: "input_audio"; readonly input_audio: { readonly data: string; readonly format: "wav" | "mp3" } }

export type ChatFilePartInput = { readonly type: "file"; readonly file: { readonly file_data?: string; readonly file_id?: string; readonly filename?: string } }

export type ChatRefusalPartInput = { readonly type: "refusal"; readonly refusal: string }

export type OtherChatPartInput = { readonly [name: string]: unknown }

export type ChatFunctionCallInput = { readonly id: string; readonly type: "function"; readonly function: { readonly name: string; /** Arguments as JSON text, exactly as the model generated them. */ readonly arguments: string } }

export type ChatCustomCallInput = { readonly id: string; readonly type: "custom"; readonly custom: { readonly name: string; readonly input: string } }

export type OtherChatToolCallInput = { readonly [name: string]: unknown }

export type AiChatMessageInput = { readonly role: "system" | "developer" | "user" | "assistant" | "tool"; readonly content?: string | readonly (ChatTextPartInput | ChatImagePartInput | ChatAudioPartInput | ChatFilePartInput | ChatRefusalPartInput | OtherChatPartInput)[] | null; readonly name?: string | null; readonly toolCalls?: readonly (ChatFunctionCallInput | ChatCustomCallInput | OtherChatToolCallInput)[] | null; readonly tool_calls?: readonly (ChatFunctionCallInput | ChatCustomCallInput | OtherChatToolCallInput)[] | null; readonly toolCallId?: string | null; readonly tool_call_id?: string | null }

export type ChatFunctionInput = { readonly name: string; readonly description?: string; /** JSON Schema of the arguments. */ readonly parameters?: { readonly [name: string]: unknown }; readonly strict?: boolean | null }

export type ChatFunctionToolInput = { readonly type: "function"; /** Function that the model may call. */ readonly function: ChatFunctionInput }

export type ChatCustomToolInput = { readonly type: "custom"; readonly custom: { readonly name: string; readonly description?: string; readonly format?: { readonly [name: string]: unknown } } }

export type OtherAiChatToolInput = { readonly [name: string]: unknown }

export type ChatFunctionChoiceInput = { readonly type: "function"; readonly function: { readonly name: string } }

export type ChatAllowedToolsInput = { readonly type: "allowed_tools"; readonly allowed_tools: { readonly mode: "auto" | "required"; readonly tools: readonly ({ readonly [name: string]: unknown })[] } }

export type ChatPlainFormatInput = { readonly type: "text" | "json_object" }

export type AnswerSchemaInput = { readonly name: string; readonly description?: string; /** JSON Schema of the answer. */ readonly schema?: { readonly [name: string]: unknown }; readonly strict?: boolean | null }

export type ChatSchemaFormatInput = { readonly type: "json_schema"; readonly json_schema: AnswerSchemaInput }

export type ChatMemoryInput = { readonly userId?: string; readonly sessionId?: string; readonly scope?: "session" | "user"; readonly retrieve?: boolean; readonly write?: boolean; readonly topK?: number; readonly threshold?: number; readonly namespace?: string; readonly extract?: { readonly model?: string; readonly prompt?: string; readonly minImportance?: number }; readonly mode?: "inject" | "index"; readonly graph?: boolean; readonly asOf?: string }

export type AiChatRequestInput = { readonly model: string; /** Fallback models, tried in order when `model` fails. */ readonly models?: readonly string[] | null; readonly messages: readonly AiChatMessageInput[]; readonly temperature?: number | null; readonly topP?: number | null; readonly top_p?: number | null; readonly maxTokens?: number | null; readonly max_tokens?: number | null; readonly stop?: string | readonly string[] | null; readonly stream?: boolean | null; readonly tools?: readonly (ChatFunctionToolInput | ChatCustomToolInput | OtherAiChatToolInput)[] | null; readonly toolChoice?: "none" | "auto" | "required" | ChatFunctionChoiceInput | ChatAllowedToolsInput | string | { readonly [name: string]: unknown } | null; readonly tool_choice?: "none" | "auto" | "required" | ChatFunctionChoiceInput | ChatAllowedToolsInput | string | { readonly [name: string]: unknown } | null; readonly responseFormat?: "text" | "json" | "json_object" | ChatPlainFormatInput | ChatSchemaFormatInput | string | { readonly [name: string]: unknown } | null; readonly response_format?: "text" | "json" | "json_object" | ChatPlainFormatInput | ChatSchemaFormatInput | string | { readonly [name: string]: unknown } | null; readonly userId?: string | null; readonly user_id?: string | null; readonly memory?: boolean | ChatMemoryInput | null }

export type AiChatUsage = { readonly promptTokens: number; readonly completionTokens: number; readonly totalTokens: number; readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; /** Cost in USD; absent if the price is unknown. */ readonly costUsd?: number; /** Cost in USD; absent if the price is unknown. */ readonly cost_usd?: number }

export type AiChatToolCall = { readonly id: string; readonly type: "function"; readonly function: { readonly name: string; readonly arguments: string } }

export type ChatMemoryBlock = { readonly retrieved: readonly ({ readonly [name: string]: unknown })[]; readonly written: readonly ({ readonly [name: string]: unknown })[]; readonly write_status: "skipped" | "pending" | "success" | "error"; readonly write_request_id: string | null }

export type AiChatResult = { readonly id: string; readonly content: string; readonly model: string; readonly provider: string; readonly finishReason: string | null; readonly finish_reason: string | null; /** Token counts of the call. */ readonly usage: AiChatUsage; readonly toolCalls: readonly AiChatToolCall[] | null; readonly tool_calls: readonly AiChatToolCall[] | null; readonly costUsd: number | null; readonly cost_usd: number | null; /** Memories that were read and written. */ readonly memory?: ChatMemoryBlock }

export type ResponseTextPartInput = { readonly type: "input_text" | "output_text"; readonly text: string }

export type ResponseImagePartInput = { readonly type: "input_image"; /** Address of the image, or a data URL. */ readonly image_url?: string | null; readonly file_id?: string | null; readonly detail?: "auto" | "low" | "high" }

export type ResponseFilePartInput = { readonly type: "input_file"; readonly file_data?: string; readonly file_id?: string | null; readonly file_url?: string; readonly filename?: string }

export type OtherResponsePartInput = { readonly [name: string]: unknown }

export type ResponseInputMessageInput = { readonly type?: "message"; readonly role: "user" | "assistant" | "system" | "developer"; readonly content: string | readonly (ResponseTextPartInput | ResponseImagePartInput | ResponseFilePartInput | OtherResponsePartInput)[] }

export type ResponseFunctionCallInput = { readonly type: "function_call"; readonly call_id: string; readonly name: string; readonly arguments: string }

export type ResponseFunctionOutputInput = { readonly type: "function_call_output"; readonly call_id: string; readonly output: string | readonly (ResponseTextPartInput | ResponseImagePartInput | ResponseFilePartInput | OtherResponsePartInput)[] }

export type ResponseCustomCallInput = { readonly type: "custom_tool_call"; readonly call_id: string; readonly name: string; readonly input: string }

export type ResponseCustomOutputInput = { readonly type: "custom_tool_call_output"; readonly call_id: string; readonly output: string | readonly (ResponseTextPartInput | ResponseImagePartInput | ResponseFilePartInput | OtherResponsePartInput)[] }

export type ResponseReasoningInput = { readonly type: "reasoning"; readonly id?: string; readonly summary: readonly ({ readonly [name: string]: unknown })[] }

export type ResponseItemReferenceInput = { readonly type: "item_reference"; readonly id: string }

export type OtherResponseInputItemInput = { readonly [name: string]: unknown }

export type ResponseFunctionToolInput = { readonly type: "function"; readonly name: string; readonly description?: string | null; /** JSON Schema of the arguments. */ readonly parameters?: { readonly [name: string]: unknown } | null; readonly strict?: boolean | null }

export type ResponseCustomToolInput = { readonly type: "custom"; readonly name: string; readonly description?: string; readonly format?: { readonly [name: string]: unknown } }

export type ResponseWebSearchToolInput = { readonly type: "web_search" | "web_search_preview"; readonly search_context_size?: "low" | "medium" | "high" }

export type ResponseFileSearchToolInput = { readonly type: "file_search"; readonly vector_store_ids: readonly string[]; readonly max_num_results?: number }

export type OtherResponseToolInput = { readonly [name: string]: unknown }

export type ResponseNamedChoiceInput = { readonly type: "function" | "custom"; readonly name: string }

export type ResponseAllowedToolsInput = { readonly type: "allowed_tools"; readonly mode: "auto" | "required"; readonly tools: readonly ({ readonly [name: string]: unknown })[] }

export type ResponsePlainFormatInput = { readonly type: "text" | "json_object" }

export type ResponseSchemaFormatInput = { readonly type: "json_schema"; readonly name: string; readonly schema: { readonly [name: string]: unknown }; readonly description?: string; readonly strict?: boolean | null }

export type OtherTextFormatInput = { readonly [name: string]: unknown }

export type ResponseRequestInput = { readonly model: string; /** Fallback models, tried in order when `model` fails. */ readonly models?: readonly string[] | null; /** Text or items of the input. Optional with `previous_response_id` or `conversation`. */ readonly input?: string | readonly (ResponseInputMessageInput | ResponseFunctionCallInput | ResponseFunctionOutputInput | ResponseCustomCallInput | ResponseCustomOutputInput | ResponseReasoningInput | ResponseItemReferenceInput | OtherResponseInputItemInput)[] | null; readonly instructions?: string | null; /** Stored response that the conversation continues. */ readonly previous_response_id?: string | null; /** Whether the response is stored, for 30 days. Default: true. */ readonly store?: boolean | null; readonly stream?: boolean | null; /** Functions and custom tools that you run; `web_search`; `file_search`, with ids of knowledge bases or vector stores in `vector_store_ids`; and `mcp`, a remote tool server given by the `server_label` of a registered server or by `server_url`. */ readonly tools?: readonly (ResponseFunctionToolInput | ResponseCustomToolInput | ResponseWebSearchToolInput | ResponseFileSearchToolInput | OtherResponseToolInput)[] | null; readonly tool_choice?: "none" | "auto" | "required" | ResponseNamedChoiceInput | ResponseAllowedToolsInput | string | { readonly [name: string]: unknown } | null; /** Additional data to return. `file_search_call.results` is supported; other values have no effect. */ readonly include?: readonly string[] | null; readonly parallel_tool_calls?: boolean | null; readonly max_tool_calls?: number | null; readonly max_output_tokens?: number | null; readonly text?: { readonly format?: ResponsePlainFormatInput | ResponseSchemaFormatInput | OtherTextFormatInput; readonly verbosity?: "low" | "medium" | "high" | null } | null; readonly reasoning?: { readonly effort?: string | null; readonly summary?: string | null } | null; readonly temperature?: number | null; readonly top_p?: number | null; readonly truncation?: "auto" | "disabled" | null; readonly metadata?: { readonly [name: string]: string } | null; readonly user?: string | null; /** Memory of an end user. `memory` of the response reports what was read and the receipt of the write; headers do so too. It is not stored with the response. */ readonly memory?: boolean | ChatMemoryInput | null; /** Whether to create the response in the background. It starts as `queued`; poll it with `responses.get`. A background response is always stored and cannot use `memory`. */ readonly background?: boolean | null; /** Id of the conversation that the request continues. The input and output of the request are added to it. Cannot be combined with `previous_response_id`. */ readonly conversation?: string | { readonly id: string } | null; /** Not supported. A request that sets it is refused with `bad_request`. */ readonly prompt?: unknown }

export type ResponseItem = { readonly id: string; readonly type: string }

export type ModelResponse = { readonly id: string; readonly object: "response"; readonly created_at: number; readonly completed_at?: number | null; readonly status: "queued" | "in_progress" | "completed" | "incomplete" | "failed" | "cancelled"; readonly background?: boolean | null; readonly error: { readonly code: string; readonly message: string } | null; readonly conversation?: { readonly id: string } | null; readonly incomplete_details: { readonly reason: string } | null; readonly instructions: unknown; readonly max_output_tokens?: number | null; readonly max_tool_calls?: number | null; /** Memories that were read and written. */ readonly memory?: ChatMemoryBlock; readonly metadata: { readonly [name: string]: unknown } | null; readonly model: string; readonly output: readonly ResponseItem[]; readonly parallel_tool_calls: boolean; readonly previous_response_id?: string | null; readonly reasoning?: { readonly [name: string]: unknown } | null; readonly store?: boolean; readonly temperature: number | null; readonly text?: { readonly [name: string]: unknown }; readonly tool_choice: unknown; readonly tools: readonly ({ readonly [name: string]: unknown })[]; readonly top_p: number | null; readonly truncation?: string | null; readonly usage?: { readonly input_tokens: number; readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number }; readonly output_tokens: number; readonly output_tokens_details: { readonly reasoning_tokens: number }; readonly total_tokens: number; /** Cost in USD; absent if the price is unknown. */ readonly cost_usd?: number } | null }

export type ResponseTokensRequestInput = { readonly model?: string | null; /** Text or items of the input. Optional with `previous_response_id` or `conversation`. */ readonly input?: string | readonly (ResponseInputMessageInput | ResponseFunctionCallInput | ResponseFunctionOutputInput | ResponseCustomCallInput | ResponseCustomOutputInput | ResponseReasoningInput | ResponseItemReferenceInput | OtherResponseInputItemInput)[] | null; /** Id of the conversation that the request continues. The input and output of the request are added to it. Cannot be combined with `previous_response_id`. */ readonly conversation?: string | { readonly id: string } | null; readonly instructions?: string | null; readonly previous_response_id?: string | null; readonly tools?: readonly (ResponseFunctionToolInput | ResponseCustomToolInput | ResponseWebSearchToolInput | ResponseFileSearchToolInput | OtherResponseToolInput)[] | null; readonly tool_choice?: "none" | "auto" | "required" | ResponseNamedChoiceInput | ResponseAllowedToolsInput | string | { readonly [name: string]: unknown } | null; readonly text?: { readonly format?: ResponsePlainFormatInput | ResponseSchemaFormatInput | OtherTextFormatInput; readonly verbosity?: "low" | "medium" | "high" | null } | null }

export type ResponseTokens = { readonly object: "response.input_tokens"; readonly input_tokens: number }

export type CompactionRequestInput = { readonly model: string; /** Text or items of the input. Optional with `previous_response_id` or `conversation`. */ readonly input?: string | readonly (ResponseInputMessageInput | ResponseFunctionCallInput | ResponseFunctionOutputInput | ResponseCustomCallInput | ResponseCustomOutputInput | ResponseReasoningInput | ResponseItemReferenceInput | OtherResponseInputItemInput)[] | null; readonly instructions?: string | null; readonly previous_response_id?: string | null }

export type ResponseUsage = { readonly input_tokens: number; readonly input_tokens_details: { readonly cached_tokens: number; readonly cache_write_tokens: number }; readonly output_tokens: number; readonly output_tokens_details: { readonly reasoning_tokens: number }; readonly total_tokens: number; /** Cost in USD; absent if the price is unknown. */ readonly cost_usd?: number }

export type Compaction = { readonly id: string; readonly object: "response.compaction"; readonly created_at: number; readonly output: readonly ResponseItem[]; readonly usage: ResponseUsage }

export type ModelResponseInputItems = { readonly object: "list"; readonly data: readonly ResponseItem[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean }

export type ConversationRequestInput = { readonly items?: readonly ({ readonly [name: string]: unknown })[] | null; readonly metadata?: { readonly [name: string]: string } | null }

export type ModelConversation = { readonly id: string; readonly object: "conversation"; readonly created_at: number; readonly metadata: { readonly [name: string]: unknown } }

export type ModelConversationItem = { readonly id: string; readonly type: string }

export type ModelConversationItems = { readonly object: "list"; readonly data: readonly ModelConversationItem[]; readonly first_id: string | null; readonly last_id: string | null; readonly has_more: boolean }

export type MessageTextBlockInput = { readonly type: "text"; readonly text: string; /** Cache breakpoint for the provider's prompt cache. */ readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" } | null }

export type MessageBase64SourceInput = { readonly type: "base64"; readonly media_type: string; readonly data: string }

export type MessageUrlSourceInput = { readonly type: "url"; readonly url: string }

export type MessageImageBlockInput = { readonly type: "image"; readonly source: MessageBase64SourceInput | MessageUrlSourceInput | { readonly [name: string]: unknown }; /** Cache breakpoint for the provider's prompt cache. */ readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" } | null }

export type MessageDocumentBlockInput = { readonly type: "document"; readonly source: MessageBase64SourceInput | MessageUrlSourceInput | { readonly [name: string]: unknown }; readonly title?: string | null; readonly context?: string | null; /** Cache breakpoint for the provider's prompt cache. */ readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" } | null }

export type MessageToolUseBlockInput = { readonly type: "tool_use"; readonly id: string; readonly name: string; readonly input: { readonly [name: string]: unknown }; /** Cache breakpoint for the provider's prompt cache. */ readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" } | null }

export type MessageToolResultBlockInput = { readonly type: "tool_result"; readonly tool_use_id: string; readonly content?: string | readonly ({ readonly [name: string]: unknown })[]; readonly is_error?: boolean; /** Cache breakpoint for the provider's prompt cache. */ readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" } | null }

export type MessageThinkingBlockInput = { readonly type: "thinking"; readonly thinking: string; readonly signature: string }

export type MessageRedactedThinkingBlockInput = { readonly type: "redacted_thinking"; readonly data: string }

export type OtherMessageBlockInput = { readonly [name: string]: unknown }

export type MessageTurnInput = { readonly role: "user" | "assistant" | "system"; readonly content: string | readonly (MessageTextBlockInput | MessageImageBlockInput | MessageDocumentBlockInput | MessageToolUseBlockInput | MessageToolResultBlockInput | MessageThinkingBlockInput | MessageRedactedThinkingBlockInput | OtherMessageBlockInput)[] }

export type OtherSystemBlockInput = { readonly [name: string]: unknown }

export type MessageToolInput = { readonly type?: "custom" | null; readonly name: string; readonly description?: string; readonly input_schema: { readonly [name: string]: unknown }; readonly strict?: boolean; /** Cache breakpoint for the provider's prompt cache. */ readonly cache_control?: { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" } | null }

export type OtherMessageToolInput = { readonly [name: string]: unknown }

export type MessageThinkingEnabledInput = { readonly type: "enabled"; readonly budget_tokens: number }

export type MessageThinkingChoiceInput = { readonly type: "disabled" | "adaptive" }

export type OtherMessageThinkingInput = { readonly [name: string]: unknown }

export type CacheControlInput = { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" }

export type OtherCacheControlInput = { readonly [name: string]: unknown }

export type MessageSchemaFormatInput = { readonly type: "json_schema"; readonly schema: { readonly [name: string]: unknown } }

export type OtherOutputFormatInput = { readonly [name: string]: unknown }

export type MessageRequestInput = { readonly model: string; readonly messages: readonly MessageTurnInput[]; readonly system?: string | readonly (MessageTextBlockInput | OtherSystemBlockInput)[] | null; readonly tools?: readonly (MessageToolInput | OtherMessageToolInput)[] | null; readonly tool_choice?: { readonly type: "auto" | "any" | "tool" | "none"; readonly name?: string; readonly disable_parallel_tool_use?: boolean | null } | null; readonly thinking?: MessageThinkingEnabledInput | MessageThinkingChoiceInput | OtherMessageThinkingInput; /** Thread that stores the messages on the server. To continue it, send the `id` of its latest message and only the new messages. */ readonly thread?: { readonly type: "create" | "continue"; readonly previous_message_id?: string } | null; readonly max_tokens: number; readonly stop_sequences?: readonly string[] | null; readonly stream?: boolean | null; readonly temperature?: number | null; readonly top_p?: number | null; readonly top_k?: number | null; readonly cache_control?: CacheControlInput | OtherCacheControlInput; /** Not supported. A request that sets it is refused with `bad_request`. */ readonly mcp_servers?: readonly ({ readonly [name: string]: unknown })[] | null; readonly metadata?: { readonly user_id?: string | null } | null; readonly service_tier?: "auto" | "standard_only" | null; readonly output_config?: { readonly effort?: string | null; readonly format?: MessageSchemaFormatInput | OtherOutputFormatInput } | null; /** Memory of the end user identified by `userId` or `metadata.user_id`. For a stream, response headers report what was read. */ readonly memory?: boolean | ChatMemoryInput | null }

export type MessageBlock = { readonly type: string }

export type MessageUsage = { readonly input_tokens: number; readonly output_tokens: number; readonly cache_read_input_tokens: number | null; readonly cache_creation_input_tokens: number | null; /** Cost in USD; absent if the price is unknown. */ readonly cost_usd?: number }

export type Message = { readonly id: string; readonly type: "message"; readonly role: "assistant"; readonly model: string; readonly content: readonly MessageBlock[]; readonly stop_reason: string | null; readonly stop_sequence: string | null; readonly stop_details: unknown; readonly container: unknown; readonly diagnostics: unknown; /** Token counts of the message. */ readonly usage: MessageUsage; /** Memories that were read and written. */ readonly memory?: ChatMemoryBlock }

export type MessageCountRequestInput = { readonly model: string; readonly messages: readonly MessageTurnInput[]; readonly system?: string | readonly (MessageTextBlockInput | OtherSystemBlockInput)[] | null; readonly tools?: readonly (MessageToolInput | OtherMessageToolInput)[] | null; readonly tool_choice?: { readonly type: "auto" | "any" | "tool" | "none"; readonly name?: string; readonly disable_parallel_tool_use?: boolean | null } | null; readonly thinking?: MessageThinkingEnabledInput | MessageThinkingChoiceInput | OtherMessageThinkingInput }

export type Transcript = { readonly text: string; /** What the provider charges by: seconds of audio, or tokens. */ readonly usage?: { readonly type: "duration" | "tokens" }; readonly task?: "transcribe" | "translate"; /** Language as reported by the provider; empty if it does not report one. */ readonly language?: string; /** Length of the audio in seconds. */ readonly duration?: number; /** Segments with the scores that Whisper reports; neutral values for other models. */ readonly segments?: readonly ({ readonly id: number | string; readonly start: number; readonly end: number; readonly text: string; readonly speaker?: string })[]; readonly words?: readonly ({ readonly word: string; readonly start: number; readonly end: number; readonly speaker?: string })[] }

export type ChatMessageInput = { /** Role of the author, such as `system`, `developer`, `user`, `assistant` or `tool`. */ readonly role: string; readonly content?: string | readonly (ChatTextPartInput | ChatImagePartInput | ChatAudioPartInput | ChatFilePartInput | ChatRefusalPartInput | OtherChatPartInput)[] | null; readonly name?: string | null; readonly tool_calls?: readonly (ChatFunctionCallInput | ChatCustomCallInput | OtherChatToolCallInput)[] | null; /** Id of the tool call whose output this message is. */ readonly tool_call_id?: string | null; readonly refusal?: string | null }

export type OtherChatToolInput = { readonly type: string }

export type OtherResponseFormatInput = { readonly [name: string]: unknown }

export type ChatCompletionUsage = { readonly prompt_tokens: number; readonly completion_tokens: number; readonly total_tokens: number; /** Cost in USD; absent if the price is unknown. */ readonly cost_usd?: number }

export type ChatCompletion = { readonly id: string; readonly object: "chat.completion"; readonly created: number; readonly model: string; readonly choices: readonly ({ readonly index: number; readonly message: { readonly role: "assistant"; readonly content: string | null }; readonly finish_reason: string | null })[]; /** Token counts of the completion. */ readonly usage?: ChatCompletionUsage; /** Memories that were read and written. */ readonly memory?: ChatMemoryBlock }

export type Embedding = { readonly object: "embedding"; readonly index: number; readonly embedding: readonly number[] | string }

export type EmbeddingUsage = { readonly prompt_tokens: number; readonly total_tokens: number; /** Cost in USD; absent if the price is unknown. */ readonly cost_usd?: number }

export type EmbeddingList = { readonly object: "list"; readonly data: readonly Embedding[]; readonly model: string; /** Token counts of the input. */ readonly usage: EmbeddingUsage }

export type Moderation = { readonly results: readonly ({ readonly [name: string]: unknown })[] }

export type Completion = { readonly choices: readonly ({ readonly [name: string]: unknown })[] }

export type Reranking = { readonly results: readonly ({ readonly [name: string]: unknown })[] }

export type Images = { readonly created: number; readonly data: readonly ({ readonly [name: string]: unknown })[] }

export type VisionAnalyzeRequestInput = { /** URL of the image: `https://`, or `data:` with base64. */ readonly image_url?: string | null; /** Image as base64, without a `data:` prefix. */ readonly image_base64?: string | null; /** Media type of `image_base64`. */ readonly mime_type?: string | null; readonly images?: readonly (string | { /** URL of the image: `https://`, or `data:` with base64. */ readonly url?: string | null; /** Image as base64, without a `data:` prefix. */ readonly base64?: string | null; readonly mime_type?: string | null })[] | null; /** Question about the images. Used by `vision.analyze` only. */ readonly prompt?: string | null; /** Model id, or `provider/model`. Default: `gpt-4o-mini`, or a configured model that accepts images. */ readonly model?: string | null; readonly max_tokens?: number | null; readonly temperature?: number | null; readonly response_format?: "text" | "json" | null; readonly stream?: boolean | null }

export type VisionUsage = { readonly promptTokens: number; readonly completionTokens: number; readonly totalTokens: number }

export type VisionCost = { readonly providerCostUsd: number | null; readonly serviceChargeUsd: number | null; readonly markupPercentage: number }

export type VisionResult = { readonly analysis: string; readonly model: string; readonly provider: string; readonly usage: VisionUsage; readonly cost: VisionCost }

export type VisionDescription = { readonly description: string; readonly model: string; readonly provider: string; readonly usage: VisionUsage; readonly cost: VisionCost }

export type VisionText = { readonly text: string; readonly model: string; readonly provider: string; readonly usage: VisionUsage; readonly cost: VisionCost }

export type VisionClassification = { /** Tags, categories and objects. Null if the model did not return a JSON object; its text is then in `raw`. */ readonly classification: { readonly [name: string]: unknown } | null; readonly raw: string; readonly model: string; readonly provider: string; readonly usage: VisionUsage; readonly cost: VisionCost }

export type RequestLogLine = { readonly id: string; readonly request_id: string; /** Time at which the request ended. */ readonly at: string; /** Time at which the request started. */ readonly started_at: string; /** Id of the operation. */ readonly operation: string; readonly need: "chat" | "vision" | "embedding" | "speech" | "transcription" | "image"; /** Kind of the credential. */ readonly credential: string; readonly key_id: string | null; readonly tenant_id: string | null; readonly external_user_id: string | null; readonly agent_id: string | null; /** Model that was requested. */ readonly asked_model: string; /** Provider that answered or failed last; null when no provider was called. */ readonly provider: string | null; readonly model: string | null; readonly source: "byok" | "custom" | "managed" | "simulated" | null; readonly connection_id: string | null; /** HTTP status of the response. */ readonly status: number; /** Error code of the response. */ readonly error: string | null; /** Whether the response was a stream. */ readonly streamed: boolean; /** Milliseconds until the first byte of the response. */ readonly first_byte_ms: number | null; /** Duration of the whole request in milliseconds. */ readonly duration_ms: number; /** Number of calls to providers. */ readonly attempts: number; /** Number of values that were redacted before the request was sent to a provider, by type of personal data. */ readonly redactions: { readonly [name: string]: number }; readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cache_write_tokens: number; readonly reasoning_tokens: number; readonly characters: number | null; readonly seconds: number | null; readonly images: number | null; /** Cost in USD; null if unknown. */ readonly cost_usd: string | null; /** Whether the bodies were stored, or why not. `off`: disabled by the settings. `none`: there were none. `busy`: the server was under load. */ readonly bodies: "kept" | "off" | "none" | "busy" }

export type RequestLogEntry = { readonly id: string; readonly request_id: string; /** Time at which the request ended. */ readonly at: string; /** Time at which the request started. */ readonly started_at: string; /** Id of the operation. */ readonly operation: string; readonly need: "chat" | "vision" | "embedding" | "speech" | "transcription" | "image"; /** Kind of the credential. */ readonly credential: string; readonly key_id: string | null; readonly tenant_id: string | null; readonly external_user_id: string | null; readonly agent_id: string | null; /** Model that was requested. */ readonly asked_model: string; /** Provider that answered or failed last; null when no provider was called. */ readonly provider: string | null; readonly model: string | null; readonly source: "byok" | "custom" | "managed" | "simulated" | null; readonly connection_id: string | null; /** HTTP status of the response. */ readonly status: number; /** Error code of the response. */ readonly error: string | null; /** Whether the response was a stream. */ readonly streamed: boolean; /** Milliseconds until the first byte of the response. */ readonly first_byte_ms: number | null; /** Duration of the whole request in milliseconds. */ readonly duration_ms: number; /** Number of calls to providers. */ readonly attempts: number; /** Number of values that were redacted before the request was sent to a provider, by type of personal data. */ readonly redactions: { readonly [name: string]: number }; readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly cache_write_tokens: number; readonly reasoning_tokens: number; readonly characters: number | null; readonly seconds: number | null; readonly images: number | null; /** Cost in USD; null if unknown. */ readonly cost_usd: string | null; /** Whether the bodies were stored, or why not. `off`: disabled by the settings. `none`: there were none. `busy`: the server was under load. */ readonly bodies: "kept" | "off" | "none" | "busy"; /** Failed attempts before the final one, in order; at most 20. */ readonly failed_attempts: readonly ({ readonly provider: string; readonly model: string; readonly source: "byok" | "custom" | "managed" | "simulated"; readonly connection_id: string | null; /** Error code of the attempt. */ readonly error: string; readonly message: string; /** Milliseconds from the start of the request until the attempt failed. */ readonly after_ms: number })[]; /** Unit prices in USD from which the cost was computed, with the date of the price list. Null if unknown. */ readonly price: { readonly [name: string]: unknown } | null; /** Body of the request, redacted and truncated to 16 KB. */ readonly request_body: string | null; /** Body of the response, redacted and truncated to 16 KB. */ readonly response_body: string | null }

export type RequestLogSettings = { /** `off`: no entries. `metadata`: entries without bodies. `bodies`: entries with redacted bodies. */ readonly mode?: "off" | "metadata" | "bodies"; /** Days for which new entries are kept. Existing entries keep their expiry. */ readonly retention_days?: number }

export type RequestLogSettingsInput = { /** `off`: no entries. `metadata`: entries without bodies. `bodies`: entries with redacted bodies. */ readonly mode?: "off" | "metadata" | "bodies"; /** Days for which new entries are kept. Existing entries keep their expiry. */ readonly retention_days?: number }

export type Limit = { readonly id: string; /** Subject whose calls are limited. */ readonly subject: "project" | "tenant" | "key"; /** Id of the tenant or key. Null for the project. */ readonly subject_id: string | null; /** Maximum number of requests in any 60 seconds (sliding window). */ readonly requests_per_minute: number | null; /** Maximum number of input and output tokens in any 60 seconds (sliding window). A call holds an estimate of its input and its longest answer until it ends, so that all calls together exceed the limit by at most one call. An answer without a limit of its own may be limited to an eighth of what is left, but at least to 4,096 tokens; the header `x-max-tokens-limited` says so. */ readonly tokens_per_minute: number | null; /** Budget per day (UTC) in USD. */ readonly budget_day_usd: string | null; /** Budget per calendar month (UTC) in USD. */ readonly budget_month_usd: string | null; /** Total budget in USD that never resets, counted from its creation. */ readonly budget_total_usd: string | null; /** USD spent today. Null if there is no such budget. */ readonly spent_day_usd: string | null; /** USD spent this month. Null if there is no such budget. */ readonly spent_month_usd: string | null; /** USD spent since the budget was created. Null if there is no such budget. */ readonly spent_total_usd: string | null; /** Maximum cost in USD of the calls in progress, held against the budgets. */ readonly reserved_usd: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type Credits = { readonly organization_id: string; /** Whether calls require credits. If false, the amounts are null. */ readonly gated: boolean; /** Total USD granted. */ readonly granted_usd: string | null; /** Total USD spent. */ readonly spent_usd: string | null; /** Remaining balance in USD. */ readonly balance_usd: string | null }

export type RedactionPolicy = { /** Whether requests to providers are redacted. Enabled by default in new projects. Logs are always redacted. */ readonly enabled: boolean; /** Kinds of personal data that are replaced by placeholders in requests to providers. `name` is off by default: names of people are detected with a dictionary and the surrounding words, which misses many. */ readonly types: readonly ("email" | "phone" | "payment_card" | "iban" | "us_ssn" | "national_id" | "ip_address" | "url_credentials" | "secret" | "name")[]; /** `input`: texts of messages and of documents. `tool_arguments`: arguments of tool calls. `embeddings` and `speech`: texts to embed or to speak, off by default because nothing can be restored in a vector or a sound; an answer made from such a text without redaction has the header `x-redaction: off`. `logs`: the request log, always. */ readonly apply_to: readonly ("input" | "tool_arguments" | "embeddings" | "speech" | "logs")[]; /** Whether placeholders in the answer are replaced by the original values. */ readonly restore: boolean; /** Country of phone numbers without a country prefix, as an ISO 3166-1 alpha-2 code. */ readonly phone_region: string; readonly updated_at: string | null }

export type Batch = { readonly id: string; readonly object: "batch"; readonly endpoint: "/v1/chat/completions" | "/v1/responses" | "/v1/embeddings"; readonly input_file_id: string; readonly completion_window: string; readonly status: "validating" | "failed" | "in_progress" | "finalizing" | "completed" | "expired" | "cancelling" | "cancelled"; readonly errors?: { readonly object: "list"; readonly data: readonly ({ readonly code: string; /** Number of the line, starting at 1. */ readonly line: number | null; readonly message: string; readonly param: string | null })[] }; /** File with the answers, in the order of the requests. */ readonly output_file_id?: string; /** File with the requests that failed or that the batch had no time for. */ readonly error_file_id?: string; readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number }; readonly usage: { readonly input_tokens: number; readonly input_tokens_details: { readonly cached_tokens: number }; readonly output_tokens: number; readonly output_tokens_details: { readonly reasoning_tokens: number }; readonly total_tokens: number }; readonly metadata: { readonly [name: string]: unknown }; readonly created_at: number; readonly expires_at: number; readonly in_progress_at?: number; readonly finalizing_at?: number; readonly completed_at?: number; readonly failed_at?: number; readonly expired_at?: number; readonly cancelling_at?: number; readonly cancelled_at?: number }

export type UsageGroup = { readonly tenant_id?: string | null; readonly agent_id?: string | null; readonly installation_id?: string | null; readonly external_user_id?: string | null; readonly provider?: string; readonly model?: string; readonly key_id?: string | null; readonly operation?: "session.turn" | "run" | "agent_version.test" | "chat" | "vision" | "embedding" | "speech" | "transcription" | "image" | "memory"; readonly day?: string; /** Number of model calls. */ readonly calls: number; /** Number of calls with an unknown price. The amounts do not include them. */ readonly unpriced_calls: number; readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; readonly characters: number; readonly seconds: number; readonly images: number; readonly provider_cost_usd: string; readonly service_charge_usd: string }

export type UsageTotals = { /** Number of model calls. */ readonly calls: number; /** Number of calls with an unknown price. The amounts do not include them. */ readonly unpriced_calls: number; readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; readonly characters: number; readonly seconds: number; readonly images: number; readonly provider_cost_usd: string; readonly service_charge_usd: string }

export type UsageRow = { readonly id: string; readonly at: string; readonly tenant_id: string | null; readonly agent_id: string | null; readonly installation_id: string | null; readonly external_user_id: string | null; readonly session_id: string | null; readonly run_id: string | null; readonly operation: "session.turn" | "run" | "agent_version.test" | "chat" | "vision" | "embedding" | "speech" | "transcription" | "image" | "memory"; readonly provider: string; readonly model: string; readonly input_tokens: number; readonly output_tokens: number; readonly cached_tokens: number; readonly reasoning_tokens: number; readonly cache_write_tokens: number; readonly characters: number | null; readonly seconds: number | null; readonly images: number | null; readonly request_id: string | null; readonly key_id: string | null; readonly estimated: boolean; /** Whether a crash cut the call. Its tokens are estimated from the request and the part of the answer that was stored; a call of which nothing was stored has no row. */ readonly interrupted: boolean; /** Cost in USD; null if the price of the model is unknown. */ readonly provider_cost_usd: string | null; readonly service_charge_usd: string | null; readonly billing_mode: "managed" | "byok" | "custom" | "simulated"; readonly price_snapshot: { readonly [name: string]: unknown } | null }

export type InvoiceLine = { readonly tenant_id: string | null; readonly tenant_external_id: string | null; readonly agent_id: string | null; readonly installation_id: string | null; readonly provider: string; readonly model: string; /** Number of model calls. */ readonly calls: number; /** Number of calls with an unknown price. The amounts do not include them. */ readonly unpriced_calls: number; readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; readonly characters: number; readonly seconds: number; readonly images: number; readonly provider_cost_usd: string; readonly service_charge_usd: string; readonly rate_plan_id: string | null; readonly rate_plan: string | null; readonly markup_percent: string; readonly markup_usd: string; readonly token_charge_usd: string; readonly call_charge_usd: string; readonly total_usd: string }

export type Invoice = { readonly project_id: string; readonly currency: "USD"; readonly from: string; readonly to: string; readonly issued_at: string; readonly lines: readonly InvoiceLine[]; readonly totals: { /** Number of model calls. */ readonly calls: number; /** Number of calls with an unknown price. The amounts do not include them. */ readonly unpriced_calls: number; readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; readonly characters: number; readonly seconds: number; readonly images: number; readonly provider_cost_usd: string; readonly service_charge_usd: string; readonly markup_usd: string; readonly token_charge_usd: string; readonly call_charge_usd: string; readonly total_usd: string } }

export type RatePlan = { readonly id: string; readonly name: string; readonly description: string | null; /** Markup on the service charge, in percent. */ readonly markup_percent?: string; /** Another name of `markup_percent`. Responses contain both; a request that contains both with different values is refused. */ readonly markup_percentage?: string; /** Price in USD per million input tokens, in addition to the service charge. */ readonly input_per_million_usd?: string; /** Price in USD per million output tokens, in addition to the service charge. */ readonly output_per_million_usd?: string; /** Price in USD per model call. */ readonly per_call_usd?: string; /** Whether the plan applies to usage that has no other plan. If several plans are default plans, the newest applies. */ readonly is_default?: boolean; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type MemoryFactInput = { readonly subject: string; readonly relation: string; readonly object: string; /** Whether the subject has only one such object at a time, so that a newer fact supersedes an older one. */ readonly single?: boolean; readonly valid_from?: string }

export type MemoryHit = { readonly id: string; readonly content: string; readonly score: number; /** Whether the search or a relation of the graph found it. */ readonly source: "vector" | "graph"; /** Whether words of the query, its meaning or both match. Absent on hits of the graph. */ readonly match?: "lexical" | "vector" | "both"; /** Parts of the stored content that no longer hold; `content` is what holds. */ readonly superseded?: readonly ({ readonly content: string; readonly valid_to: string; /** The memory that superseded it. */ readonly superseded_by: string })[]; /** `instructions`: the content seems to contain instructions to a model. It is found by searches, but never given to a model. */ readonly flags?: readonly "instructions"[]; /** Number of relations between the named entity and the fact. Only on hits of the graph. */ readonly hops?: number; readonly scope: "user" | "session"; readonly sessionId: string | null; readonly namespace: string | null; readonly metadata: { readonly [name: string]: unknown }; readonly observed_at: string; readonly valid_to: string | null; readonly parts?: { /** Part of the score. */ readonly lexical?: number; /** Part of the score. */ readonly vector?: number } }

export type Memory = { readonly id: string; readonly userId: string; readonly tenant_id: string | null; readonly content: string; readonly scope: "user" | "session"; readonly sessionId: string | null; readonly namespace: string | null; readonly importance: number; readonly pinned: boolean; readonly metadata: { readonly [name: string]: unknown }; /** Origin of the memory: `write`, `remember`, `import`, `chat`, `session`, `run` … */ readonly source: string; /** Who said it. */ readonly speaker: string | null; readonly facts: readonly ({ readonly subject: string; readonly relation: string; readonly object: string; readonly single: boolean; readonly valid_from: string | null })[]; /** Kinds of personal data that were redacted from the content. */ readonly redacted: readonly string[]; readonly observed_at: string; readonly valid_from: string | null; readonly valid_to: string | null; readonly superseded_by: string | null; /** Parts of the content that newer memories superseded while others hold. */ readonly superseded: readonly ({ readonly content: string; readonly valid_to: string; /** The memory that superseded it. */ readonly superseded_by: string })[]; /** `instructions`: the content seems to contain instructions to a model. It is found by searches, but never given to a model. */ readonly flags: readonly "instructions"[]; /** Embedder of the stored vector; null until the vector has been computed. */ readonly embedder: string | null; readonly created_at: string; readonly updated_at: string; readonly expires_at: string | null }

export type MemoryFact = { readonly subject: string; readonly relation: string; readonly object: string; /** Whether the subject has only one such object at a time, so that a newer fact supersedes an older one. */ readonly single?: boolean; readonly valid_from?: string }

export type MemoryReceipt = { readonly request_id: string; readonly status: "pending" | "success" | "error"; /** Number of facts that were found. */ readonly extracted?: number; /** Number of memories that were stored. */ readonly written?: number; readonly memories?: readonly ({ readonly id: string; /** Whether the memory was already stored; `id` is then that of the stored memory. */ readonly duplicate?: true })[]; /** Extractor that was used. */ readonly extractor?: "given" | "rules" | "model"; readonly error?: { readonly code: string; readonly message: string }; /** Cost of model calls and embeddings of this request in USD. */ readonly costUsd: number; /** Model that was called; null when none was. */ readonly model: string | null; /** Provider that answered; null when none was called. */ readonly provider: string | null; readonly attempts: number }

export type FunctionTool = { readonly type: "function"; readonly function: { /** Name by which the model calls the tool. */ readonly name: string; /** Tells the model when to call the tool. */ readonly description?: string; /** JSON Schema of the arguments. */ readonly parameters?: { readonly [name: string]: unknown }; /** Whether arguments must match `parameters` exactly, where the provider supports it. */ readonly strict?: boolean }; /** Whether calls require approval. */ readonly needsApproval?: boolean; /** Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool. */ readonly approver?: "operator" | "end_user"; /** Risk of a tool call, shown to approvers. */ readonly risk_level?: "low" | "medium" | "high" | "critical"; /** Seconds until the action expires; at most 604,800 (7 days). */ readonly expires_in?: number }

export type HttpTool = { readonly type: "http"; /** Name by which the model calls the tool. */ readonly name: string; /** Tells the model when to call the tool. */ readonly description?: string; /** JSON Schema of the arguments. */ readonly parameters?: { readonly [name: string]: unknown }; /** URL that the arguments are sent to. */ readonly url: string; /** HTTP method. Default: `POST`. */ readonly method?: "POST" | "PUT" | "PATCH"; /** Timeout of the call in milliseconds. */ readonly timeout_ms?: number; /** Headers of the request. Values are write-only: responses contain `[masked]`, and sending `[masked]` back keeps the stored value. */ readonly headers?: { readonly [name: string]: string }; /** Risk of a tool call, shown to approvers. */ readonly risk_level?: "low" | "medium" | "high" | "critical"; /** Whether a call may be retried after a failure. Default: `at_most_once`. */ readonly effect?: "idempotent" | "at_most_once"; /** Whether calls require approval. */ readonly needsApproval?: boolean; /** Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool. */ readonly approver?: "operator" | "end_user"; /** Seconds until the action expires; at most 604,800 (7 days). */ readonly expires_in?: number }

export type WebSearchTool = { readonly type: "web_search_preview"; /** Amount of context that a search returns. */ readonly search_context_size?: "low" | "medium" | "high"; /** Whether calls require approval. */ readonly needsApproval?: boolean; /** Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool. */ readonly approver?: "operator" | "end_user" }

export type ContextPolicy = { /** What replaces the oldest turns: nothing (`truncate`), or a summary written by a model. Default: `truncate`. */ readonly strategy?: "truncate" | "summarize"; /** Maximum estimated number of tokens of a conversation. Default: the space available in the model's context window. */ readonly max_tokens?: number; /** Number of latest turns to keep, if they fit. Default: as many as fit. */ readonly keep_turns?: number; /** Model that writes the summaries. Default: the model of the turn. */ readonly model?: string }

export type ConversationMemory = { readonly userId?: string; readonly sessionId?: string; readonly scope?: "session" | "user"; readonly retrieve?: boolean; readonly write?: boolean; readonly topK?: number; readonly threshold?: number; readonly namespace?: string; readonly extract?: { readonly model?: string; readonly prompt?: string; readonly minImportance?: number }; readonly mode?: "inject" | "index"; readonly graph?: boolean; readonly asOf?: string }

export type RunLimits = { /** Maximum number of model calls. Default: 50. */ readonly max_steps?: number; /** Maximum total of input and output tokens over all model calls. */ readonly max_tokens?: number; /** Maximum cost in USD, counted over model calls with a known price. */ readonly max_cost_usd?: number; /** Maximum duration in seconds from the start, including time spent waiting. Default: 604,800 (7 days). */ readonly max_duration_s?: number }

export type AgentConfig = { /** Model of the agent: a model id, or `provider/model`. */ readonly model: string; /** System prompt of every conversation. */ readonly system_prompt?: string; /** Text that is appended to `system_prompt`. */ readonly instructions?: string; /** Tools that the model may call. */ readonly tools?: readonly (FunctionTool | HttpTool | WebSearchTool)[]; /** Sampling temperature. */ readonly temperature?: number; /** Maximum number of tokens in one model answer. */ readonly max_tokens?: number; /** Nucleus sampling: only the most likely tokens whose probabilities add up to this value are considered. */ readonly top_p?: number; /** Stop sequences: the answer ends before the first one that occurs. */ readonly stop?: string | readonly string[]; /** Format of the answer: `{"type": "json_object"}`, or `{"type": "json_schema", "json_schema": {…}}`. */ readonly response_format?: { readonly [name: string]: unknown }; /** Amount of reasoning before the answer. */ readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"; /** Seed for reproducible answers, where the provider supports it. */ readonly seed?: number; /** Which tool the model calls: `auto`, `none`, `required` or `{"type": "function", "function": {"name": …}}`. A choice that forces a call applies to the first model call of a turn or run; later calls use `auto`. */ readonly tool_choice?: "auto" | "none" | "required" | { readonly [name: string]: unknown }; /** Whether one answer may call several tools. */ readonly parallel_tool_calls?: boolean; /** Fallback models, tried in order when `model` fails. They do not apply to a turn that sets its own model. */ readonly models?: readonly string[]; /** Whether tool calls require approval. When any tool has `needsApproval`, only calls of those tools do. */ readonly pause_on_tool_calls?: boolean; /** What happens to a turn of a session whose server stops while the model is answering: `restart` makes the model call again, `fail` ends the turn with `interrupted`. Default: `restart`. */ readonly on_interrupted?: "restart" | "fail"; /** Fields of a turn that client tokens and public keys may set for this agent. None by default. */ readonly turn_overrides?: readonly ("model" | "instructions" | "tools")[]; /** What to do when a conversation exceeds the model's context window. */ readonly context?: ContextPolicy; /** Memory of the end users of sessions and runs. */ readonly memory?: boolean | ConversationMemory; /** Limits of an agent's runs. A run that reaches one fails. */ readonly limits?: RunLimits; /** Agents to which runs of this agent may delegate. */ readonly subagents?: readonly (string | { readonly agent_id: string; /** Version to run. Default: the newest published one. */ readonly version?: string; /** Tells the model when to delegate. */ readonly description?: string })[]; readonly connectors?: readonly unknown[]; readonly mcp_servers?: readonly unknown[]; readonly skills?: readonly unknown[]; readonly knowledge?: readonly unknown[]; readonly knowledge_bases?: readonly unknown[]; /** Web tools that the model may call: `search` searches the pages that the project has indexed (`web_search`), `fetch` reads public pages (`web_fetch`), and `browse` opens a page in a browser and acts on it. Calls of `browse` require approval unless a policy states otherwise. */ readonly web?: readonly ("search" | "fetch" | "browse")[] }

export type Agent = { readonly id: string; readonly name: string; readonly description: string | null; /** Configuration of an agent. */ readonly config: AgentConfig; /** Which tenants may use the agent. `private`: those with an active installation of it; a client token of another tenant cannot open a session of the agent, nor continue one. `unlisted` and `public`: every tenant of the project. The agent catalogue lists a version with the stricter of the visibilities of the version and the agent. */ readonly visibility?: "private" | "unlisted" | "public"; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type FunctionToolInput = { readonly type: "function"; readonly function: { /** Name by which the model calls the tool. */ readonly name: string; /** Tells the model when to call the tool. */ readonly description?: string; /** JSON Schema of the arguments. */ readonly parameters?: { readonly [name: string]: unknown }; /** Whether arguments must match `parameters` exactly, where the provider supports it. */ readonly strict?: boolean }; /** Whether calls require approval. */ readonly needsApproval?: boolean; /** Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool. */ readonly approver?: "operator" | "end_user"; /** Risk of a tool call, shown to approvers. */ readonly risk_level?: "low" | "medium" | "high" | "critical"; /** Seconds until the action expires; at most 604,800 (7 days). */ readonly expires_in?: number }

export type HttpToolInput = { readonly type: "http"; /** Name by which the model calls the tool. */ readonly name: string; /** Tells the model when to call the tool. */ readonly description?: string; /** JSON Schema of the arguments. */ readonly parameters?: { readonly [name: string]: unknown }; /** URL that the arguments are sent to. */ readonly url: string; /** HTTP method. Default: `POST`. */ readonly method?: "POST" | "PUT" | "PATCH"; /** Timeout of the call in milliseconds. */ readonly timeout_ms?: number; /** Headers of the request. Values are write-only: responses contain `[masked]`, and sending `[masked]` back keeps the stored value. */ readonly headers?: { readonly [name: string]: string }; /** Risk of a tool call, shown to approvers. */ readonly risk_level?: "low" | "medium" | "high" | "critical"; /** Whether a call may be retried after a failure. Default: `at_most_once`. */ readonly effect?: "idempotent" | "at_most_once"; /** Whether calls require approval. */ readonly needsApproval?: boolean; /** Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool. */ readonly approver?: "operator" | "end_user"; /** Seconds until the action expires; at most 604,800 (7 days). */ readonly expires_in?: number }

export type WebSearchToolInput = { readonly type: "web_search_preview"; /** Amount of context that a search returns. */ readonly search_context_size?: "low" | "medium" | "high"; /** Whether calls require approval. */ readonly needsApproval?: boolean; /** Who may approve or reject calls: `operator` (default), with a secret key or in the dashboard; or also the `end_user`, with a client token that has `sessions:approve`. Ignored where a browser's credential declares the tool. */ readonly approver?: "operator" | "end_user" }

export type ContextPolicyInput = { /** What replaces the oldest turns: nothing (`truncate`), or a summary written by a model. Default: `truncate`. */ readonly strategy?: "truncate" | "summarize"; /** Maximum estimated number of tokens of a conversation. Default: the space available in the model's context window. */ readonly max_tokens?: number; /** Number of latest turns to keep, if they fit. Default: as many as fit. */ readonly keep_turns?: number; /** Model that writes the summaries. Default: the model of the turn. */ readonly model?: string }

export type ConversationMemoryInput = { readonly userId?: string; readonly sessionId?: string; readonly scope?: "session" | "user"; readonly retrieve?: boolean; readonly write?: boolean; readonly topK?: number; readonly threshold?: number; readonly namespace?: string; readonly extract?: { readonly model?: string; readonly prompt?: string; readonly minImportance?: number }; readonly mode?: "inject" | "index"; readonly graph?: boolean; readonly asOf?: string }

export type RunLimitsInput = { /** Maximum number of model calls. Default: 50. */ readonly max_steps?: number; /** Maximum total of input and output tokens over all model calls. */ readonly max_tokens?: number; /** Maximum cost in USD, counted over model calls with a known price. */ readonly max_cost_usd?: number; /** Maximum duration in seconds from the start, including time spent waiting. Default: 604,800 (7 days). */ readonly max_duration_s?: number }

export type AgentConfigInput = { /** Model of the agent: a model id, or `provider/model`. */ readonly model: string; /** System prompt of every conversation. */ readonly system_prompt?: string; /** Text that is appended to `system_prompt`. */ readonly instructions?: string; /** Tools that the model may call. */ readonly tools?: readonly (FunctionToolInput | HttpToolInput | WebSearchToolInput)[]; /** Sampling temperature. */ readonly temperature?: number; /** Maximum number of tokens in one model answer. */ readonly max_tokens?: number; /** Nucleus sampling: only the most likely tokens whose probabilities add up to this value are considered. */ readonly top_p?: number; /** Stop sequences: the answer ends before the first one that occurs. */ readonly stop?: string | readonly string[]; /** Format of the answer: `{"type": "json_object"}`, or `{"type": "json_schema", "json_schema": {…}}`. */ readonly response_format?: { readonly [name: string]: unknown }; /** Amount of reasoning before the answer. */ readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"; /** Seed for reproducible answers, where the provider supports it. */ readonly seed?: number; /** Which tool the model calls: `auto`, `none`, `required` or `{"type": "function", "function": {"name": …}}`. A choice that forces a call applies to the first model call of a turn or run; later calls use `auto`. */ readonly tool_choice?: "auto" | "none" | "required" | { readonly [name: string]: unknown }; /** Whether one answer may call several tools. */ readonly parallel_tool_calls?: boolean; /** Fallback models, tried in order when `model` fails. They do not apply to a turn that sets its own model. */ readonly models?: readonly string[]; /** Whether tool calls require approval. When any tool has `needsApproval`, only calls of those tools do. */ readonly pause_on_tool_calls?: boolean; /** What happens to a turn of a session whose server stops while the model is answering: `restart` makes the model call again, `fail` ends the turn with `interrupted`. Default: `restart`. */ readonly on_interrupted?: "restart" | "fail"; /** Fields of a turn that client tokens and public keys may set for this agent. None by default. */ readonly turn_overrides?: readonly ("model" | "instructions" | "tools")[]; /** What to do when a conversation exceeds the model's context window. */ readonly context?: ContextPolicyInput; /** Memory of the end users of sessions and runs. */ readonly memory?: boolean | ConversationMemoryInput; /** Limits of an agent's runs. A run that reaches one fails. */ readonly limits?: RunLimitsInput; /** Agents to which runs of this agent may delegate. */ readonly subagents?: readonly (string | { readonly agent_id: string; /** Version to run. Default: the newest published one. */ readonly version?: string; /** Tells the model when to delegate. */ readonly description?: string })[]; readonly connectors?: readonly unknown[]; readonly mcp_servers?: readonly unknown[]; readonly skills?: readonly unknown[]; readonly knowledge?: readonly unknown[]; readonly knowledge_bases?: readonly unknown[]; /** Web tools that the model may call: `search` searches the pages that the project has indexed (`web_search`), `fetch` reads public pages (`web_fetch`), and `browse` opens a page in a browser and acts on it. Calls of `browse` require approval unless a policy states otherwise. */ readonly web?: readonly ("search" | "fetch" | "browse")[] }

export type AgentKey = { readonly id: string; readonly agent_id: string; readonly name: string; readonly environment?: "live" | "test"; readonly key_type?: "secret" | "public"; /** Origins that requests may come from, such as `*.example.com`. If empty, any origin is allowed. */ readonly allowed_domains?: readonly string[]; /** First characters of the key. */ readonly prefix: string; /** Last four characters of the key. */ readonly last4: string; readonly created_by: string | null; /** Limits of the key. A request beyond them is 403 `insufficient_scope`, and `param` names what is missing. Default: none. */ readonly scopes: { /** Models that requests with the key may use, each as requests name it. Default: no limit. */ readonly models?: readonly string[]; /** Tenants that the key reaches. A key of one tenant acts for that tenant; with several, each request names one, such as in `X-Tenant-Id`. What all tenants share can be read; the rest of the project is out of reach. Default: no limit. */ readonly tenants?: readonly string[]; /** Operations that the key may call: `read` (those that change nothing), `write` (all), or those of a group, such as `sessions` or `sessions:read`. Groups: sessions, runs, actions, agents, models, memory, knowledge, tenants, exports, keys, web, connections, tool_servers, skills, providers, webhooks, usage, request_log, settings. Default: no limit. */ readonly operations?: readonly string[] } | null; readonly expires_at: string | null; readonly last_used_at: string | null; readonly revoked_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type AgentKeyShown = { readonly id: string; readonly agent_id: string; readonly name: string; readonly environment?: "live" | "test"; readonly key_type?: "secret" | "public"; /** Origins that requests may come from, such as `*.example.com`. If empty, any origin is allowed. */ readonly allowed_domains?: readonly string[]; /** First characters of the key. */ readonly prefix: string; /** Last four characters of the key. */ readonly last4: string; readonly created_by: string | null; /** Limits of the key. A request beyond them is 403 `insufficient_scope`, and `param` names what is missing. Default: none. */ readonly scopes: { /** Models that requests with the key may use, each as requests name it. Default: no limit. */ readonly models?: readonly string[]; /** Tenants that the key reaches. A key of one tenant acts for that tenant; with several, each request names one, such as in `X-Tenant-Id`. What all tenants share can be read; the rest of the project is out of reach. Default: no limit. */ readonly tenants?: readonly string[]; /** Operations that the key may call: `read` (those that change nothing), `write` (all), or those of a group, such as `sessions` or `sessions:read`. Groups: sessions, runs, actions, agents, models, memory, knowledge, tenants, exports, keys, web, connections, tool_servers, skills, providers, webhooks, usage, request_log, settings. Default: no limit. */ readonly operations?: readonly string[] } | null; readonly expires_at: string | null; readonly last_used_at: string | null; readonly revoked_at: string | null; /** The key, shown once. */ readonly key: string; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type AgentVersion = { readonly id: string; readonly agent_id: string; /** Semantic version, such as `1.2.0`. */ readonly version: string; readonly status: "draft" | "in_review" | "published" | "deprecated" | "retired"; /** Configuration of an agent. */ readonly config: AgentConfig; /** Prerequisites of an installation. `connectors`, `mcp_servers`, `skills`, `knowledge` and `knowledge_bases` are checked: a missing one is reported by `agent_versions.validate` and refused with `prerequisites_missing`. Other fields are stored for your own use. */ readonly requirements?: { readonly [name: string]: unknown }; /** Visibility in the agent catalogue. */ readonly visibility?: "private" | "unlisted" | "public"; /** Result of a draft's latest test. */ readonly test: { readonly passed: boolean; readonly input: string; readonly output: string; /** Tool calls that the model made. A test executes none of them. */ readonly tool_calls: readonly ({ readonly tool: string; readonly arguments: string })[]; readonly model: string; readonly usage: { readonly input_tokens: number; readonly output_tokens: number; readonly total_tokens: number; readonly cost_usd: string | null } | null; readonly error: { readonly code: string; readonly message: string } | null; readonly tested_by: string; readonly tested_at: string } | null; readonly review: { readonly decision: "approve" | "reject"; readonly reason: string | null; readonly by: string; readonly at: string } | null; readonly created_by: string; readonly submitted_at: string | null; readonly published_at: string | null; readonly deprecated_at: string | null; readonly retired_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type ManifestFinding = { readonly severity: "error" | "warning"; readonly code: string; /** Field of the version. */ readonly param: string; readonly message: string }

export type Validation = { readonly valid: boolean; readonly findings: readonly ManifestFinding[] }

export type AgentCatalogEntry = { readonly id: string; readonly agent_id: string; readonly name: string; readonly description: string | null; readonly version: string; readonly agent_version_id: string; /** Visibility in the agent catalogue. */ readonly visibility: "private" | "unlisted" | "public"; readonly requirements: { readonly [name: string]: unknown }; readonly published_at: string; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type AgentOverlays = { /** Text that is appended to the version's system prompt. */ readonly system_prompt_append?: string; readonly model?: string; readonly tools?: readonly (FunctionTool | HttpTool | WebSearchTool)[]; readonly temperature?: number; readonly max_tokens?: number; /** Nucleus sampling: only the most likely tokens whose probabilities add up to this value are considered. */ readonly top_p?: number; /** Stop sequences: the answer ends before the first one that occurs. */ readonly stop?: string | readonly string[]; /** Format of the answer: `{"type": "json_object"}`, or `{"type": "json_schema", "json_schema": {…}}`. */ readonly response_format?: { readonly [name: string]: unknown }; /** Amount of reasoning before the answer. */ readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"; /** Seed for reproducible answers, where the provider supports it. */ readonly seed?: number; /** Which tool the model calls: `auto`, `none`, `required` or `{"type": "function", "function": {"name": …}}`. A choice that forces a call applies to the first model call of a turn or run; later calls use `auto`. */ readonly tool_choice?: "auto" | "none" | "required" | { readonly [name: string]: unknown }; /** Whether one answer may call several tools. */ readonly parallel_tool_calls?: boolean; /** Fallback models, tried in order when `model` fails. They do not apply to a turn that sets its own model. */ readonly models?: readonly string[]; readonly pause_on_tool_calls?: boolean; readonly on_interrupted?: "restart" | "fail"; /** What to do when a conversation exceeds the model's context window. */ readonly context?: ContextPolicy; /** Limits of an agent's runs. A run that reaches one fails. */ readonly limits?: RunLimits }

export type AgentInstallation = { readonly id: string; readonly tenant_id: string; readonly agent_id: string; /** Version of the agent. Default: the newest published one. */ readonly version: string | null; /** Id of the version. */ readonly agent_version_id: string; readonly status: "active" | "disabled"; /** Changes of an installation to its version's config. */ readonly overlays?: AgentOverlays; /** Approval policy. If null, `needsApproval` of each tool applies. */ readonly approval_policy: { /** Applies to tools that `tools` does not name. */ readonly default: "require" | "auto" | "deny"; /** Policy by name of the tool. */ readonly tools?: { readonly [name: string]: "require" | "auto" | "deny" }; /** Who may decide about calls, by name of the tool. It takes precedence over `approver` of the tool. */ readonly approvers?: { readonly [name: string]: "operator" | "end_user" } } | null; /** Rate plan by which usage is charged. */ readonly rate_plan_id: string | null; /** Version to which a rollback returns. */ readonly previous_version: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type AgentOverlaysInput = { /** Text that is appended to the version's system prompt. */ readonly system_prompt_append?: string; readonly model?: string; readonly tools?: readonly (FunctionToolInput | HttpToolInput | WebSearchToolInput)[]; readonly temperature?: number; readonly max_tokens?: number; /** Nucleus sampling: only the most likely tokens whose probabilities add up to this value are considered. */ readonly top_p?: number; /** Stop sequences: the answer ends before the first one that occurs. */ readonly stop?: string | readonly string[]; /** Format of the answer: `{"type": "json_object"}`, or `{"type": "json_schema", "json_schema": {…}}`. */ readonly response_format?: { readonly [name: string]: unknown }; /** Amount of reasoning before the answer. */ readonly reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh"; /** Seed for reproducible answers, where the provider supports it. */ readonly seed?: number; /** Which tool the model calls: `auto`, `none`, `required` or `{"type": "function", "function": {"name": …}}`. A choice that forces a call applies to the first model call of a turn or run; later calls use `auto`. */ readonly tool_choice?: "auto" | "none" | "required" | { readonly [name: string]: unknown }; /** Whether one answer may call several tools. */ readonly parallel_tool_calls?: boolean; /** Fallback models, tried in order when `model` fails. They do not apply to a turn that sets its own model. */ readonly models?: readonly string[]; readonly pause_on_tool_calls?: boolean; readonly on_interrupted?: "restart" | "fail"; /** What to do when a conversation exceeds the model's context window. */ readonly context?: ContextPolicyInput; /** Limits of an agent's runs. A run that reaches one fails. */ readonly limits?: RunLimitsInput }

export type CreatedSession = { readonly id: string; /** `paused`: a tool call is pending approval. `completed`: the session has expired. */ readonly status: "active" | "paused" | "completed"; /** Number of turns. */ readonly turn_count: number; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string; /** Agent of the session. */ readonly agent_id: string | null; /** Tenant of the session. */ readonly tenant_id: string | null; /** Your own id of the end user whose session it is. */ readonly external_user_id: string | null; /** Installation that the session runs in. */ readonly installation_id: string | null; /** Your own fields. */ readonly metadata: { readonly [name: string]: unknown }; /** Session and turn from which this session was forked. */ readonly forked_from: { readonly session_id: string; readonly turn_number: number } | null }

export type Session = { readonly id: string; /** `paused`: a tool call is pending approval. `completed`: the session has expired. */ readonly status: "active" | "paused" | "completed"; /** Number of turns. */ readonly turn_count: number; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string; /** Agent of the session. */ readonly agent_id: string | null; /** Tenant of the session. */ readonly tenant_id: string | null; /** Your own id of the end user whose session it is. */ readonly external_user_id: string | null; /** Installation that the session runs in. */ readonly installation_id: string | null; /** Your own fields. */ readonly metadata: { readonly [name: string]: unknown }; /** Session and turn from which this session was forked. */ readonly forked_from: { readonly session_id: string; readonly turn_number: number } | null; /** Cost of all turns in USD. */ readonly total_cost: number; /** Why the work cannot continue until an operator decides (`stuck.list`). Absent while it can; the status is the one in which it stopped. */ readonly stuck?: string }

export type Pagination = { /** Number of this page, starting at 1. */ readonly page: number; /** Maximum number of items on a page. */ readonly limit: number; /** Total number of items, counted to 10,000. Above 1,000 it may be up to 5 seconds old. */ readonly total: number; /** `at_least` when there are more items than `total`. */ readonly total_is: "exact" | "at_least"; /** Total number of pages. */ readonly total_pages: number; /** Whether there are more items after this page. */ readonly has_more: boolean }

export type McpToolDeclarationInput = { readonly type: "mcp"; /** Id of a registered server. Its active tools are offered. */ readonly server_id?: string; /** Label of the server at `server_url`. It prefixes the names of its tools. */ readonly server_label?: string; /** URL of a server that is not registered. All its tools are offered without a review. */ readonly server_url?: string; /** Headers to send with each request to `server_url`. Write-only. */ readonly headers?: { readonly [name: string]: string }; /** Access token for `server_url`. Write-only. */ readonly authorization?: string; /** Names of the tools to offer, as the server names them. Default: all. */ readonly allowed_tools?: readonly string[]; /** Which calls require approval. Default: all. `{"tools": ["send"]}` lists the tools whose calls require it; `{"tools": {"read": "never"}}` sets it per tool. */ readonly require_approval?: "always" | "never" | { readonly tools: readonly string[] } | { readonly tools: { readonly [name: string]: "always" | "never" } } | { readonly always?: { readonly tool_names: readonly string[] }; readonly never?: { readonly tool_names: readonly string[] } } }

export type TurnRequestInput = { /** Message of the user. Optional with `tool_results` and `retry_of`. */ readonly input?: string; /** Number of the latest turn, which failed: makes its failed model call again, in a new turn. The input and the tool calls of the failed turn stay as they are, and nothing is executed twice. Excludes `input` and `tool_results`. */ readonly retry_of?: number; /** Tools that the model may call in this turn. */ readonly tools?: readonly (FunctionToolInput | HttpToolInput | WebSearchToolInput | McpToolDeclarationInput)[]; /** System message of this turn. */ readonly instructions?: string; /** Model of this turn, as a model id or `provider/model`. */ readonly model?: string; /** Whether tool calls require approval. When any tool has `needsApproval`, only calls of those tools do. Default: true. */ readonly pause_on_tool_calls?: boolean; /** Memory of the session's end user. Default: the setting of the agent's config. */ readonly memory?: boolean | ConversationMemoryInput | null; /** Outputs of tools that you ran. */ readonly tool_results?: readonly ({ /** Id of the tool call. */ readonly action_id: string; /** Output for the model. */ readonly output: string })[] }

export type SessionMessageText = { readonly type: "text"; /** Text. */ readonly text: string }

export type SessionMessageTool = { readonly type: "tool"; /** Id of the action that represents the tool call. */ readonly action_id: string; /** Name of the tool. */ readonly tool: string; /** Arguments of the call. Secrets are masked, except for a credential that may run the tool itself. */ readonly arguments: unknown; /** `caller` if the caller runs the tool: a `function` tool. */ readonly run_by?: "caller"; /** `page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it. */ readonly declared_by?: "page"; /** `pending`: waits for a decision, as in `pending_actions`. `awaiting_output`: the turn ended, and the next one brings the output in `tool_results`. `cancelled`: the turn ended before. */ readonly status: "running" | "pending" | "awaiting_output" | "completed" | "rejected" | "cancelled"; /** Output of the tool. */ readonly output?: string; /** Reason for the rejection. */ readonly reason?: string }

export type SessionMessageCitation = { readonly type: "citation"; /** Offset of the first character of the citation mark in the text of the turn, in UTF-16 code units. */ readonly start_index: number; /** Offset after its last character. */ readonly end_index: number; /** URL of the page. */ readonly url: string; /** Title of the page. Untrusted. */ readonly title: string }

export type TurnUsage = { /** Tokens of the input. */ readonly input_tokens: number; /** Tokens of the output. */ readonly output_tokens: number; /** Tokens of input and output. */ readonly total_tokens: number; /** Cost in USD as an exact decimal; null if a price is unknown. */ readonly cost_usd: string | null }

export type TurnError = { /** One of the error codes. */ readonly code: string; /** Message for developers. */ readonly message: string }

export type SessionMessage = { /** Made of the turn number and the role: `msg_3_user`, `msg_3_assistant`. */ readonly id: string; readonly role: "user" | "assistant"; /** Number of the turn in its session, from 1. */ readonly turn_number: number; /** `paused`: waits for `pending_actions`. Messages of users are `completed`. */ readonly status: "completed" | "in_progress" | "paused" | "failed"; /** Parts in the order in which they began. */ readonly parts: readonly (SessionMessageText | SessionMessageTool | SessionMessageCitation)[]; /** Tokens and cost. */ readonly usage?: TurnUsage; /** Error that caused a turn to fail. */ readonly error?: TurnError; /** Failed turn whose input this one repeats. Its input is not repeated as a message. */ readonly retry_of?: number }

export type RequiredConnection = { readonly connection_id: string; readonly connector: string; /** URL where the owner signs in. Null for a connection that uses an API key. */ readonly authorize_url: string | null; /** Time at which the link expires. */ readonly expires_at: string | null }

export type RequiredInput = { /** Name of the server that requests the input. */ readonly server: string; /** Endpoint of that server. */ readonly server_url: string; /** `form`: values that match `schema`. `url`: the person completes a task at `url`. */ readonly mode: "form" | "url"; /** Message from the server. Not verified. */ readonly message: string; /** JSON Schema of the values: a flat object. Null for mode `url`. */ readonly schema: { readonly [name: string]: unknown } | null; /** Page for the person to open, after checking where the URL leads. Null for mode `form`. */ readonly url: string | null; /** Fields that appear to ask for secrets. The protocol forbids servers to request secrets in a form. */ readonly secret_fields: readonly string[] }

export type PendingAction = { /** Id of the action that represents the tool call. */ readonly action_id: string; /** Number of the turn in its session, from 1. */ readonly turn_number: number; readonly reason: "approval_required" | "connection_required" | "input_required"; /** Name of the tool. */ readonly tool: string; /** Arguments of the call. Secrets are masked, except for a credential that may run the tool itself. */ readonly arguments: unknown; /** `caller` if the caller runs the tool: a `function` tool. */ readonly run_by?: "caller"; /** `page` if a browser's credential declared the tool in this turn: client tokens with `sessions:tools` may run it. */ readonly declared_by?: "page"; /** `end_user` if client tokens with `sessions:approve` may decide about the call; otherwise only the operator may. */ readonly approver?: "end_user"; /** A connection that must be established first. */ readonly connection?: RequiredConnection; /** Input that a tool's server requests from a person. */ readonly input?: RequiredInput }

export type SessionMessages = { /** Messages, oldest first. */ readonly data: readonly SessionMessage[]; /** Tool calls that the turn in progress waits for. */ readonly pending_actions: readonly PendingAction[]; /** Sequence number of the last event of these messages. `sessions.stream` continues with `after`. */ readonly last_event_id: number; /** Whether there are earlier messages. */ readonly has_more: boolean }

export type SessionEvent = { readonly id: string; readonly session_id: string; readonly turn_number: number | null; readonly sequence: number; readonly event_type: string; readonly payload: { readonly [name: string]: unknown }; readonly created_at: string }

export type Action = { readonly id: string; /** Name of the tool. */ readonly tool: string; /** Risk of a tool call, shown to approvers. */ readonly risk_level?: "low" | "medium" | "high" | "critical"; /** State of the action. */ readonly status: "pending_approval" | "awaiting_connection" | "awaiting_input" | "approved" | "executing" | "executed" | "failed" | "rejected" | "expired"; /** Arguments of the call. Secrets are masked, except where a secret key reads a call of a `function` tool, which the caller itself runs. */ readonly arguments: { readonly [name: string]: unknown }; /** Tenant for which the call is made. */ readonly tenant_id: string | null; /** Run that made the call. */ readonly run_id: string | null; /** Session that made the call. */ readonly session_id: string | null; /** Request that the server makes, once, when the action is approved. Without it, you execute the approved action yourself and report the outcome with `actions.complete`. */ readonly execute: { readonly type: "http"; /** URL that the arguments are sent to. */ readonly url: string; /** HTTP method. Default: `POST`. */ readonly method?: "POST" | "PUT" | "PATCH"; /** Timeout of the call in milliseconds. */ readonly timeout_ms?: number; /** Headers of the request. Values are write-only: responses contain `[masked]`. */ readonly headers?: { readonly [name: string]: string } } | null; /** Connection that the call requires while it is `awaiting_connection`, or required before. The call resumes automatically once the connection is active. */ readonly connection: { readonly connection_id: string; readonly connector: string; /** URL where the owner signs in. Null for a connection that uses an API key. */ readonly authorize_url: string | null; /** Time at which the link expires. */ readonly expires_at: string | null } | null; /** Input that the tool's server requests while the action is `awaiting_input`, or requested last. Respond with `content` in `actions.approve`, or decline with `actions.reject`. */ readonly input: { /** Name of the server that requests the input. */ readonly server: string; /** Endpoint of that server. */ readonly server_url: string; /** `form`: values that match `schema`. `url`: the person completes a task at `url`. */ readonly mode: "form" | "url"; /** Message from the server. Not verified. */ readonly message: string; /** JSON Schema of the values: a flat object. Null for mode `url`. */ readonly schema: { readonly [name: string]: unknown } | null; /** Page for the person to open, after checking where the URL leads. Null for mode `form`. */ readonly url: string | null; /** Fields that appear to ask for secrets. The protocol forbids servers to request secrets in a form. */ readonly secret_fields: readonly string[] } | null; /** Changes that the approver made to the arguments. Secrets are masked. Null if there are none. */ readonly edits: readonly ({ /** JSON Pointer into `arguments`. */ readonly path: string; /** Proposed value; absent if the approver added the value. */ readonly before?: unknown; /** Approved value; absent if the approver removed the value. */ readonly after?: unknown })[] | null; /** Output of the tool, truncated. Null until the tool has returned. */ readonly result: unknown; readonly error: { readonly code: string; readonly message: string } | null; /** Note of the person who decided. */ readonly note: string | null; /** Key, member or end user that made the decision. */ readonly resolved_by: string | null; /** Time of the decision. */ readonly resolved_at: string | null; /** Time at which a pending action expires. */ readonly expires_at: string; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type UiMessageInput = { /** Id of the message. */ readonly id: string; readonly role: "system" | "user" | "assistant"; /** Parts of the message. Texts, answered approvals and outputs of tools are read. */ readonly parts: readonly ({ readonly [name: string]: unknown })[]; readonly metadata?: unknown }

export type AgUiMessageInput = { /** Id of the message, unique in its thread. */ readonly id: string; readonly role: "developer" | "system" | "assistant" | "user" | "tool" | "activity" | "reasoning"; /** A text, or parts of which texts are read. */ readonly content?: unknown; /** Call that a message of a tool answers. */ readonly toolCallId?: string; /** Why the tool failed. */ readonly error?: string }

export type AgUiToolInput = { /** Name of the tool. */ readonly name: string; /** Tells the model when to call the tool. */ readonly description?: string; /** JSON Schema of the arguments. */ readonly parameters?: { readonly [name: string]: unknown } }

export type AgUiResumeEntryInput = { /** Id of the interrupt. */ readonly interruptId: string; /** `cancelled` rejects the call, or leaves it to those who may decide. */ readonly status: "resolved" | "cancelled"; /** `{"approved": true}` or `{"approved": false}` for an approval, and the values of a requested form. */ readonly payload?: unknown }

export type RunTaskInput = { /** Task in words. */ readonly prompt: string }

export type Run = { readonly id: string; readonly agent_id: string; /** Id of the agent version; null if the run uses the agent's own config. */ readonly agent_version_id: string | null; /** Version of the agent; null if the run uses the agent's own config. */ readonly version: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly installation_id: string | null; readonly tenant_id: string | null; readonly external_user_id: string | null; readonly parent_run_id: string | null; /** Run that this one repeats. */ readonly replay_of: string | null; /** Tokens and cost. */ readonly usage: TurnUsage; readonly error: { readonly code: string; readonly message: string } | null; readonly created_at: string; readonly updated_at: string; readonly finished_at: string | null; readonly expires_at: string; /** Why the work cannot continue until an operator decides (`stuck.list`). Absent while it can; the status is the one in which it stopped. */ readonly stuck?: string; /** Task of the run. */ readonly input: { readonly [name: string]: unknown }; /** Output of a completed run: `text`, and in `annotations` the web pages that it cites, as in `turn.completed`. */ readonly output: { readonly [name: string]: unknown } | null; readonly started_at: string | null }

export type RunListed = { readonly id: string; readonly agent_id: string; /** Id of the agent version; null if the run uses the agent's own config. */ readonly agent_version_id: string | null; /** Version of the agent; null if the run uses the agent's own config. */ readonly version: string | null; readonly status: "queued" | "running" | "requires_action" | "completed" | "failed" | "cancelled" | "expired"; readonly installation_id: string | null; readonly tenant_id: string | null; readonly external_user_id: string | null; readonly parent_run_id: string | null; /** Run that this one repeats. */ readonly replay_of: string | null; /** Tokens and cost. */ readonly usage: TurnUsage; readonly error: { readonly code: string; readonly message: string } | null; readonly created_at: string; readonly updated_at: string; readonly finished_at: string | null; readonly expires_at: string }

export type RunEvent = { readonly id: string; readonly run_id: string; readonly sequence: number; readonly event_type: string; readonly payload: { readonly [name: string]: unknown }; readonly created_at: string }

export type Skill = { readonly id: string; readonly name: string; /** When to use the skill. The model reads this. */ readonly description: string; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Latest published version; null if none has been published. */ readonly latest_version: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type SkillFinding = { readonly severity: "info" | "warning" | "blocker"; /** Kind of the finding, such as `prompt_injection`, `hidden_text` or `secret`. */ readonly code: string; /** File of the skill, or field of the definition of a tool. */ readonly path: string; readonly line: number; readonly message: string }

export type SkillOverride = { /** Code of the blockers that are accepted. */ readonly code: string; /** Reason, stored in the audit log. */ readonly reason: string }

export type SkillVersion = { readonly id: string; readonly skill_id: string; /** Semantic version, such as `1.2.0`. */ readonly version: string; readonly status: "draft" | "published" | "deprecated"; /** When to use the skill. The model reads this. */ readonly description: string; /** Files of the version, including `SKILL.md`. */ readonly files: readonly ({ /** Path within the skill. */ readonly path: string; readonly bytes: number; readonly sha256: string })[]; /** Findings of the scan, at most 500. */ readonly findings: readonly SkillFinding[]; /** Blockers that were accepted when it was published. */ readonly overrides: readonly SkillOverride[]; readonly created_by: string; readonly published_at: string | null; readonly deprecated_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type SkillVersionWithContent = { readonly id: string; readonly skill_id: string; /** Semantic version, such as `1.2.0`. */ readonly version: string; readonly status: "draft" | "published" | "deprecated"; /** When to use the skill. The model reads this. */ readonly description: string; /** Files of the version, including `SKILL.md`. */ readonly files: readonly ({ /** Path within the skill. */ readonly path: string; readonly bytes: number; readonly sha256: string })[]; /** Findings of the scan, at most 500. */ readonly findings: readonly SkillFinding[]; /** Blockers that were accepted when it was published. */ readonly overrides: readonly SkillOverride[]; readonly created_by: string; readonly published_at: string | null; readonly deprecated_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string; /** Text of `SKILL.md`. */ readonly content: string }

export type SkillFile = { readonly path: string; readonly bytes: number; readonly encoding: "utf8" | "base64"; readonly content: string }

export type SkillOverrideInput = { /** Code of the blockers that are accepted. */ readonly code: string; /** Reason, stored in the audit log. */ readonly reason: string }

export type SkillImport = { readonly id: string; /** Status of the import. An import is never published automatically. */ readonly status: "staged" | "published" | "rejected"; readonly source: "text" | "url" | "archive"; /** URL from which it was fetched. */ readonly url: string | null; /** Name of the skill as stated in its `SKILL.md`. */ readonly name: string | null; readonly description: string | null; readonly files: readonly ({ /** Path within the skill. */ readonly path: string; readonly bytes: number; readonly sha256: string })[]; readonly findings: readonly SkillFinding[]; /** Whether a finding is a blocker. */ readonly blocked: boolean; /** Skill of which it becomes a version; null for a new skill. */ readonly skill_id: string | null; /** Version number that it will have. */ readonly version: string | null; readonly created_by: string; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type KnowledgeBase = { readonly id: string; readonly name: string; /** What the documents are about. Agents read the description. */ readonly description: string | null; /** Tenant that the knowledge base belongs to. Null if it belongs to the project; tenants can then search it only with a grant. */ readonly tenant_id: string | null; /** Your own fields, up to 16 KB of JSON. They are stored and returned unchanged. */ readonly metadata?: { readonly [name: string]: unknown }; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type KnowledgeCitation = { readonly source_id: string; readonly title: string | null; /** Number of the page of a PDF file, or of the slide of a presentation, starting at 1. */ readonly page?: number; /** Offset of the first character of the hit in the text of the source. */ readonly start: number; /** Offset after its last character. */ readonly end: number; readonly url?: string; readonly filename?: string }

export type KnowledgeHit = { readonly chunk_id: string; readonly source_id: string; readonly content: string; /** Relevance from 0 to 1: how likely the hit is about the query. Comparable across queries. */ readonly score: number; /** Headings above the hit; in a workbook, the name of its sheet. */ readonly heading: string | null; /** Metadata of the source. */ readonly metadata: { readonly [name: string]: unknown }; /** The exact location of a hit. Offsets count UTF-16 code units of the text. */ readonly citation: KnowledgeCitation; /** Components of the score. Present with `explain`. */ readonly parts?: { readonly [name: string]: unknown } }

export type KnowledgeGrant = { readonly id: string; readonly knowledge_base_id: string; readonly subject_type: "tenant" | "agent" | "installation" | "end_user"; /** Id of the tenant, the agent, the installation, or the user of a tenant (`usr_…`) or of the project (`eus_…`). */ readonly subject_id: string; /** Permissions that are granted. */ readonly permissions?: readonly "read"[]; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type KnowledgeSource = { readonly id: string; readonly knowledge_base_id: string; readonly type: "text" | "file" | "url"; /** `pending` while a sync is in progress or will be retried. Until it ends, searches find the previous content. */ readonly status: "pending" | "ready" | "failed"; readonly title: string | null; readonly filename: string | null; readonly mime_type: string | null; readonly url: string | null; /** Seconds after which the URL is fetched again. If null, it is fetched only when a sync is requested. */ readonly refresh_interval_s: number | null; /** Your own fields. Searches filter on them. */ readonly metadata?: { readonly [name: string]: unknown }; /** SHA-256 of the content of the last sync. */ readonly checksum: string | null; /** Size of that content in bytes. */ readonly size_bytes: number | null; /** Length of the extracted text, in the same units as citation offsets (UTF-16 code units). */ readonly characters: number; /** Number of pages of a PDF file, or of slides of a presentation. */ readonly page_count: number | null; readonly chunk_count: number; /** Embedder of the vectors. Null if only keyword search finds the chunks. */ readonly embedder: string | null; /** Number of chunks that have an embedding. */ readonly embedded_count: number; /** Number of chunks that the last sync added, removed and left unchanged. */ readonly changes: { readonly added: number; readonly removed: number; readonly unchanged: number } | null; /** Reason for which the last sync failed. */ readonly error: { readonly code: string; readonly message: string } | null; /** Time at which the last successful sync ended. */ readonly synced_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type KnowledgeChunk = { readonly id: string; readonly content: string; readonly start: number; readonly end: number; readonly page: number | null; readonly heading: string | null }

export type RecallQuestion = { readonly question: string; /** Source that answers the question. */ readonly source_id?: string; /** Text that a correct hit contains; case is ignored. */ readonly text?: string }

export type KnowledgeRecallSet = { readonly id: string; readonly knowledge_base_id: string; readonly name: string; readonly questions: readonly RecallQuestion[]; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type RecallQuestionInput = { readonly question: string; /** Source that answers the question. */ readonly source_id?: string; /** Text that a correct hit contains; case is ignored. */ readonly text?: string }

export type StoredFile = { readonly id: string; readonly object: "file"; readonly bytes: number; readonly created_at: number; readonly filename: string; readonly purpose: "assistants" | "batch" | "user_data" | "batch_output"; /** Always `processed`: files are stored as they are. */ readonly status: "processed" }

export type VectorStoreFileCounts = { readonly in_progress: number; readonly completed: number; readonly failed: number; readonly cancelled: number; readonly total: number }

export type VectorStore = { readonly id: string; readonly object: "vector_store"; readonly created_at: number; readonly name: string; readonly description: string | null; /** Size of the documents in bytes. */ readonly usage_bytes: number; /** Number of files by status. */ readonly file_counts: VectorStoreFileCounts; readonly status: "in_progress" | "completed"; readonly last_active_at: number; readonly metadata: { readonly [name: string]: unknown } }

export type VectorStoreHit = { readonly file_id: string; readonly filename: string; readonly score: number; readonly attributes: { readonly [name: string]: unknown }; readonly content: readonly ({ readonly type: "text"; readonly text: string })[] }

export type VectorStoreFile = { readonly id: string; readonly object: "vector_store.file"; readonly created_at: number; readonly vector_store_id: string; readonly status: "in_progress" | "completed" | "failed" | "cancelled"; readonly usage_bytes: number; readonly last_error: { readonly code: "server_error" | "invalid_file"; readonly message: string } | null; readonly attributes: { readonly [name: string]: unknown }; readonly chunking_strategy: { readonly type: "other" } }

export type VectorStoreFileBatch = { readonly id: string; readonly object: "vector_store.files_batch"; readonly created_at: number; readonly vector_store_id: string; readonly status: "in_progress" | "completed" | "cancelled"; /** Number of files by status. */ readonly file_counts: VectorStoreFileCounts }

export type WebCacheHeaders = { readonly etag: string | null; readonly lastModified: string | null; readonly cacheControl: string | null; readonly expires: string | null; readonly age: string | null }

export type WebPage = { /** Requested URL. */ readonly url: string; /** URL after redirects. */ readonly finalUrl: string; /** HTTP status of the page. Error pages are returned too. */ readonly statusCode: number; /** Media type of the page, without parameters. */ readonly mimeType: string; /** Character encoding with which the bytes were decoded. */ readonly charset: string; /** Unmodified text of the page; what its scripts have made of it if it was rendered. */ readonly body: string; /** Whether the page was rendered in a browser. */ readonly rendered: boolean; /** Size of the page in bytes after decompression. */ readonly bytes: number; /** SHA-256 of the bytes, as `sha256:` and hex. */ readonly contentHash: string; readonly retrievedAt: string; /** Caching headers of the page. */ readonly cache: WebCacheHeaders; /** Always true: the content of a page is untrusted data, and must never be treated as instructions. */ readonly untrusted: true }

export type WebLink = { /** Absolute URL without its fragment. */ readonly url: string; readonly text: string; /** Whether the page marks the link as `nofollow`, `ugc` or `sponsored`. */ readonly nofollow: boolean }

export type WebEvidenceSpan = { readonly id: string; readonly text: string; /** Offset of the first character of the span in `content`, in UTF-16 code units. */ readonly start: number; /** Offset after its last character. */ readonly end: number }

export type WebDataEvidence = { /** JSON Pointer of the value in `data`. */ readonly path: string; /** Part of the page that contains the value. Structured data takes precedence over tables, labelled lines and headings. */ readonly source: "json_ld" | "microdata" | "meta" | "table" | "label" | "heading"; /** Text on the page. Untrusted. */ readonly text: string; /** Offset of its first character in `content`; null if it occurs only in structured data. */ readonly start: number | null; /** Offset after its last character. */ readonly end: number | null }

export type WebExtract = { /** Requested URL. */ readonly url: string; /** Canonical URL that the page declares, or the URL from which it was fetched. */ readonly canonicalUrl: string; readonly title: string; readonly description: string; /** Language as a BCP 47 tag; `und` if the page does not declare one. */ readonly language: string; /** Main text of the page. */ readonly content: string; /** SHA-256 of `content`, as `sha256:` and hex. */ readonly contentHash: string; readonly retrievedAt: string; readonly publishedAt: string | null; readonly modifiedAt: string | null; /** Links on the whole page, at most 1,000. */ readonly links: readonly WebLink[]; /** Paragraphs of `content`; long paragraphs are split into sentences. At most 500. */ readonly evidenceSpans: readonly WebEvidenceSpan[]; /** Further metadata of the page: `author`, `siteName`, `type`, `image`, `keywords`, `feeds`, `jsonLd`, `mimeType`, `charset`, `pageCount` of a PDF file, `contentSource` (`json_ld` if `content` is the article that the page has in JSON-LD only), `rendered` (true if the page was rendered in a browser), and `leftOut`, which lists what was omitted because the page had too much of it. */ readonly metadata: { readonly [name: string]: unknown }; /** Data that was extracted for `schema`. It conforms to the schema except for what `dataErrors` lists. Present with `schema`. */ readonly data?: { readonly [name: string]: unknown }; /** Source of each value in `data`. Present with `schema`. */ readonly dataEvidence?: readonly WebDataEvidence[]; /** Required values that the page does not contain, and values on the page that the schema does not allow. Present with `schema`. */ readonly dataErrors?: readonly ({ /** JSON Pointer. */ readonly path: string; readonly message: string })[]; /** Always true: the content of a page is untrusted data, and must never be treated as instructions. */ readonly untrusted: true }

export type WebCrawledPage = { readonly url: string; readonly status: "indexed" | "skipped" | "failed"; /** Reason for which the page was not indexed: an error code of `web.fetch`, `noindex`, `no_store` or `private` (directives of `Cache-Control`), `duplicate`, `duplicate_content`, `no_text`, `taken_down`, `corpus_full`, `out_of_time`, `site_busy` (429 or 503 for too long) or `robots_unreachable` (the site failed to deliver its robots.txt). */ readonly reason?: string; /** URL under which the page is indexed, if it differs. */ readonly canonicalUrl?: string; /** Change of the page since the project last crawled it. */ readonly change?: "new" | "changed" | "unchanged"; /** Number of links from a seed. */ readonly depth: number }

export type WebCrawl = { readonly pages: readonly WebCrawledPage[]; readonly indexed: number; readonly skipped: number; readonly failed: number; /** Number of URLs that were discovered, including those beyond `maxPages`. */ readonly discovered: number }

export type WebEvidence = { readonly quote: string; readonly contentHash: string; readonly retrievedAt: string }

export type WebSearchResult = { readonly id: string; readonly title: string; /** URL at which the page was read. */ readonly url: string; readonly canonicalUrl: string; /** Best-matching passage of the page. Untrusted. */ readonly snippet: string; /** From 0 to 1. Results are ordered by it. */ readonly score: number; readonly contentHash: string; readonly retrievedAt: string; readonly publishedAt: string | null; /** Evidence of the content of the page at the time it was fetched. */ readonly evidence: WebEvidence; /** Index that contains the page: `project`; `shared`, which every project can search; or `engine` for results of a third-party engine, whose pages were not fetched. */ readonly corpus: string; /** Parts of the score. Present with `explain`: `relevance`, `lexical`, `semantic`, `title`, `authority`, `freshness`, `quality`, `spam` and `diversity`. */ readonly signals?: { readonly [name: string]: unknown } }

export type WebTakedownReceipt = { readonly id: string; readonly status: "pending" | "removed" | "rejected"; readonly createdAt: string }

export type WebCrawlWait = { readonly host: string; /** `site_busy`: the host answered 429 or 503. `robots_unreachable`: it failed to deliver its robots.txt. */ readonly reason: "site_busy" | "robots_unreachable"; /** Number of postponed pages. */ readonly pages: number; /** When the first of them is requested again. */ readonly until: string }

export type WebCrawlJob = { readonly id: string; readonly status: "crawling" | "completed" | "failed" | "cancelled"; readonly seeds: readonly string[]; readonly maxPages: number; readonly maxDepth: number; /** Pages processed so far. */ readonly pages: readonly WebCrawledPage[]; readonly indexed: number; readonly skipped: number; readonly failed: number; /** Number of URLs that were discovered. */ readonly discovered: number; /** Hosts that the crawl is waiting for. Pages are postponed for at most 10 minutes at a time and 30 minutes in all, and then skipped. */ readonly waitingFor: readonly WebCrawlWait[]; readonly error: { readonly code: string; readonly message: string } | null; /** Why the work cannot continue until an operator decides (`stuck.list`). Absent while it can; the status is the one in which it stopped. */ readonly stuck?: string; readonly createdAt: string; readonly endedAt: string | null }

export type WebTakedown = { readonly id: string; /** Status of the request. It stays `pending` until a person decides. */ readonly status: "pending" | "removed" | "rejected"; readonly urls: readonly string[]; readonly basis: "copyright" | "privacy" | "legal" | "robots" | "other"; readonly requester_name: string; readonly requester_email: string; readonly statement: string; /** Pages that were removed from the index. */ readonly removed_pages: number; /** Reason for the decision. */ readonly reason: string | null; readonly decided_by: string | null; readonly decided_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type Connection = { readonly id: string; readonly name: string; /** Id of the connector (`connectors.list`). */ readonly connector: string; /** `pending`: requires a sign-in or a key. `active`: usable. `expired`: must be reconnected. `error`: refreshing the token failed for the reason in `error`; temporary failures are retried, others require `connections.refresh` or a new sign-in. `revoked`: permanently ended. */ readonly status: "pending" | "active" | "expired" | "error" | "revoked"; /** Kind of the owner. */ readonly owner_type: "project" | "tenant" | "end_user"; readonly tenant_id: string | null; readonly external_user_id: string | null; /** Whether the connection is used only for tests of agent versions, never for turns or runs. */ readonly test_only: boolean; /** Public part of the configuration, without `client_secret` and the OpenAPI document. */ readonly config: { readonly [name: string]: unknown }; /** Scopes that are requested. */ readonly scopes: readonly string[]; /** Scopes that the service requires for a call and that the sign-in has not requested. The calls wait until the owner has signed in again. */ readonly missing_scopes: readonly string[]; /** Scopes that the provider granted, if it reports them. */ readonly granted_scopes: readonly string[] | null; /** Last four characters of the key; null if there is no key or the key is too short. */ readonly key_last4: string | null; /** Number of tools. */ readonly tool_count: number; /** Time at which the access token expires. It is refreshed before that. */ readonly expires_at: string | null; readonly last_refreshed_at: string | null; readonly last_tested_at: string | null; /** Reason for which the last sign-in, refresh or test failed. */ readonly error: { readonly code: string; readonly message: string } | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type ConnectionTargetInput = { /** Base URL of the API; paths of tools are appended to it. For the connectors `api_key`, `oauth2` and `http`. */ readonly base_url?: string; /** Header that carries the key. Default: `authorization`. */ readonly header?: string; /** Text before the key in the header. Default: `Bearer ` in `authorization`, otherwise empty. */ readonly prefix?: string; /** Path for a GET request that succeeds only with a valid key. */ readonly test_path?: string; /** Values that the connector's URL requires, such as `cloud_id` for Jira. */ readonly settings?: { readonly [name: string]: string }; /** OpenAPI 3 document whose operations become tools. `base_url` defaults to its first server. */ readonly openapi?: { /** URL from which the server fetches the document. */ readonly url?: string; /** The document itself, JSON or YAML. */ readonly document?: string }; /** URL of the remote tool server. For the connector `mcp`, whose authorization server is found by discovery. */ readonly server_url?: string; /** Authorization endpoint of the connector `oauth2`. */ readonly authorization_url?: string; /** Token endpoint. */ readonly token_url?: string; /** Revocation endpoint. If null, tokens are not revoked at the provider. */ readonly revocation_url?: string | null; /** Issuer of the authorization server. A response from another issuer is refused. Default: the origin of `authorization_url`, checked if a response names an issuer. */ readonly issuer?: string | null; /** Scopes that are requested. Default: the connector's. */ readonly scopes?: readonly string[]; /** Id of your client. */ readonly client_id?: string; /** Secret of your client. Stored encrypted and never shown. */ readonly client_secret?: string; /** Authentication method at the token endpoint. Default: `client_secret_basic`, or `none` without a secret. */ readonly token_auth_method?: "client_secret_basic" | "client_secret_post" | "none" }

export type ConnectionTest = { readonly success: boolean; readonly status: "pending" | "active" | "expired" | "error" | "revoked"; readonly latency_ms: number; readonly error: { readonly code: string; readonly message: string } | null }

export type ConnectionTool = { readonly name: string; readonly description: string; readonly method: string; readonly path: string; readonly parameters: { readonly [name: string]: unknown }; readonly risk_level: string }

export type ConnectorTool = { readonly name: string; readonly description: string; readonly parameters: { readonly [name: string]: unknown }; readonly risk_level: string }

export type Connector = { readonly id: string; readonly name: string; readonly description: string; readonly auth: "api_key" | "oauth2"; /** URL of the API; null if each connection sets its own. */ readonly base_url: string | null; /** Values that `config.settings` of a connection must contain. */ readonly settings: readonly string[]; /** The provider's endpoints and default scopes. */ readonly oauth: { readonly authorization_url: string; readonly token_url: string; readonly revocation_url: string | null; readonly issuer: string | null; readonly scopes: readonly string[] } | null; /** Whether connections can be created. A catalogue connector with OAuth requires your own OAuth client (`connectors.credentials`). */ readonly is_configured: boolean; /** Id of the project's OAuth client. */ readonly client_id: string | null; readonly tools: readonly ConnectorTool[] }

export type ConnectorCredentials = { readonly connector: string; readonly client_id: string | null; readonly has_secret: boolean; /** Redirect URI to register at the provider. */ readonly redirect_uri: string; readonly updated_at: string | null }

export type BrowserActionInput = { /** Type of the action. `handOver` pauses the job and hands the page over to a person. */ readonly type: "click" | "type" | "press" | "select" | "waitFor" | "handOver"; /** CSS selector of the element, for `click`, `type`, `select` and `waitFor`. Fields for passwords, secrets and tokens are refused. */ readonly selector?: string; /** Text that `type` enters. */ readonly text?: string; /** Whether `type` replaces the current content of the field. */ readonly clear?: boolean; /** Key that `press` presses, such as `Enter` or `Shift+Tab`. */ readonly key?: string; /** Values or labels of the options that `select` selects. */ readonly values?: readonly string[]; /** Milliseconds that `waitFor` waits, instead of waiting for a selector; at most 5,000. */ readonly milliseconds?: number; /** Instructions for the person while `handOver` waits. */ readonly message?: string; /** Milliseconds that `handOver` waits for a person, from 10,000 to 900,000. Default: 300,000. All waits of a job together are limited to 1,200,000. */ readonly timeoutMs?: number }

export type BrowserStep = { /** Index of the step. Step 0 is the navigation. */ readonly index: number; readonly type: "navigate" | "click" | "type" | "press" | "select" | "waitFor" | "handOver"; readonly selector: string | null; readonly status: "completed" | "failed"; /** URL of the page after the step. Query and fragment are removed once a person has used the page. */ readonly url: string; readonly startedAt: string; readonly durationMs: number; /** Path of a WebP screenshot of the page after the step. */ readonly screenshot: string | null; /** Comment of the person who resumed the job after `handOver`. */ readonly note: string | null }

export type BrowserEvidenceSpan = { /** Id of the passage, `ev_` and a hash. */ readonly id: string; readonly text: string; /** Offset of the first character of the passage in `content`. */ readonly start: number; /** Offset after its last character. */ readonly end: number }

export type BrowserJob = { readonly id: string; /** Status of the job. Poll while it is `queued` or `running`. */ readonly status: "queued" | "running" | "completed" | "failed" | "cancelled"; readonly url: string; /** Whether the page has sent a request other than GET or HEAD. After a crash, such a job is not retried: it fails with `outcome_unknown`. */ readonly submitted: boolean; /** Present while a `running` job is waiting for a person (`handOver`); otherwise null. */ readonly waiting: { /** Instructions for the person. */ readonly message: string | null; readonly since: string; /** Time at which the job fails with `hand_over_expired` unless it is resumed. */ readonly expires_at: string } | null; /** Reason for which the job failed. */ readonly error: { readonly code: string; readonly message: string } | null; readonly createdAt: string; readonly startedAt: string | null; readonly endedAt: string | null; /** Why the work cannot continue until an operator decides (`stuck.list`). Absent while it can; the status is the one in which it stopped. */ readonly stuck?: string; /** Number of times that a browser was started for the job. */ readonly attempts: number; readonly steps: readonly BrowserStep[]; /** Result of the job. Null until the job is completed. */ readonly result: { /** Requested URL. */ readonly url: string; /** Final URL of the page. */ readonly finalUrl: string; readonly title: string | null; readonly language: string | null; /** Visible text of the page, with its open shadow roots and the frames of its site, at most 500,000 characters. */ readonly content: string; /** SHA-256 of `content`. */ readonly contentHash: string; readonly links: readonly ({ readonly url: string; readonly text: string })[]; readonly evidenceSpans: readonly BrowserEvidenceSpan[]; readonly retrievedAt: string; /** WebP screenshot of the window as a `data:` URL, at most 4 MiB. */ readonly screenshot: string | null; /** Accessibility tree of the page in YAML, limited to the requested number of tokens. Absent unless requested. */ readonly snapshot: { readonly text: string; readonly tokens: number; readonly truncated: boolean } | null; /** Always true: the content of a page is untrusted data, and must never be treated as instructions. */ readonly untrusted: true } | null; /** Peak memory of the browser in bytes, where it can be measured. */ readonly peakMemoryBytes: number | null }

export type BrowserJobSummary = { readonly id: string; /** Status of the job. Poll while it is `queued` or `running`. */ readonly status: "queued" | "running" | "completed" | "failed" | "cancelled"; readonly url: string; /** Whether the page has sent a request other than GET or HEAD. After a crash, such a job is not retried: it fails with `outcome_unknown`. */ readonly submitted: boolean; /** Present while a `running` job is waiting for a person (`handOver`); otherwise null. */ readonly waiting: { /** Instructions for the person. */ readonly message: string | null; readonly since: string; /** Time at which the job fails with `hand_over_expired` unless it is resumed. */ readonly expires_at: string } | null; /** Reason for which the job failed. */ readonly error: { readonly code: string; readonly message: string } | null; readonly createdAt: string; readonly startedAt: string | null; readonly endedAt: string | null }

export type BrowserInputInput = { /** Type of the event. `text` is entered into the focused element. */ readonly type: "mouseMove" | "mouseDown" | "mouseUp" | "wheel" | "keyDown" | "keyUp" | "text"; /** Distance from the left edge of the window in CSS pixels, for all mouse events. */ readonly x?: number; /** Distance from the top edge of the window in CSS pixels. */ readonly y?: number; /** Mouse button of `mouseDown` and `mouseUp`. Default: `left`. */ readonly button?: "left" | "middle" | "right"; /** Click count: 2 for the second click of a double click. */ readonly clicks?: number; /** How far `wheel` scrolls to the right, in CSS pixels. */ readonly deltaX?: number; /** How far `wheel` scrolls down, in CSS pixels. */ readonly deltaY?: number; /** Key of `keyDown` and `keyUp` as KeyboardEvent.key names it, such as `a`, `Enter` or `Shift`. */ readonly key?: string; /** Text of `text`. */ readonly text?: string }

export type BrowserProfile = { readonly id: string; readonly name: string; /** Tenant that the profile belongs to. Null if it belongs to the project. */ readonly tenantId: string | null; /** Number of cookies. Their values are stored encrypted and never shown. */ readonly cookies: number; readonly createdAt: string; readonly updatedAt: string }

export type McpTool = { readonly name: string; readonly description: string; readonly input_schema: { readonly [name: string]: unknown }; /** Hints from the server. Not verified. */ readonly annotations: { readonly [name: string]: unknown } | null; /** SHA-256 of the definition. */ readonly hash: string; /** `pending_review`: the tool is new, or its definition has changed since its approval; it is not offered to agents. */ readonly state: "active" | "pending_review" | "disabled"; /** Differences from the approved definition. Null if no definition was ever approved. */ readonly changes: readonly ({ /** Path in the definition, such as `input_schema.properties.to.type`. */ readonly path: string; readonly before: unknown; readonly after: unknown })[] | null; /** The latest decision. */ readonly review: { readonly decision: "approve" | "reject"; readonly reason: string | null; readonly by: { readonly kind: string; readonly id: string | null }; readonly at: string } | null; /** Findings of the scan of its texts, with the rules for skills. They do not prevent an approval. */ readonly findings: readonly SkillFinding[] }

export type McpServerWithTools = { readonly id: string; /** Name of the server. It prefixes the names of its tools as models see them. */ readonly name: string; /** Endpoint of the server. */ readonly url: string; /** `auto`: streamable HTTP, with a fallback to the older SSE transport. */ readonly transport: "auto" | "streamable_http" | "sse"; /** Milliseconds until a call fails. */ readonly timeout_ms: number; /** Tenant that the server belongs to. Null if any tenant of the project may use it. */ readonly tenant_id: string | null; /** Whether the tools of the first discovery were activated without a review. */ readonly trust: boolean; /** Names of the headers that are sent with each request. Values are never returned. */ readonly header_names: readonly string[]; /** Connection whose token is sent with each call. For connections of end users, it is that of the user whose session or run makes the call. The token is sent only to the origin for which the connection was set; with `type`, only to the `url` of the server. */ readonly auth: { readonly [name: string]: unknown } | null; /** `failing`: the server does not respond; `error` contains the reason, and it is retried. `disabled`: the server is not called. */ readonly status: "discovering" | "active" | "failing" | "disabled"; /** Reason for which the server currently cannot be used. */ readonly error: { readonly code: string; readonly message: string } | null; readonly failing_since: string | null; /** MCP revision that the server speaks. */ readonly protocol_version: string | null; readonly transport_used: "streamable_http" | "sse" | null; /** Name and version that the server reports. */ readonly server_info: { readonly [name: string]: unknown } | null; readonly tool_count: number; /** Number of tools that are pending review and not yet available to agents. */ readonly pending_review_count: number; /** SHA-256 of the snapshot of tools. */ readonly hash: string | null; readonly snapshot_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string; readonly tools: readonly McpTool[]; /** Link at which the owner of the server signs in, valid for 7 days; null if no sign-in is required. The tools are discovered as soon as the owner has signed in. */ readonly authorize_url: string | null }

export type McpServer = { readonly id: string; /** Name of the server. It prefixes the names of its tools as models see them. */ readonly name: string; /** Endpoint of the server. */ readonly url: string; /** `auto`: streamable HTTP, with a fallback to the older SSE transport. */ readonly transport: "auto" | "streamable_http" | "sse"; /** Milliseconds until a call fails. */ readonly timeout_ms: number; /** Tenant that the server belongs to. Null if any tenant of the project may use it. */ readonly tenant_id: string | null; /** Whether the tools of the first discovery were activated without a review. */ readonly trust: boolean; /** Names of the headers that are sent with each request. Values are never returned. */ readonly header_names: readonly string[]; /** Connection whose token is sent with each call. For connections of end users, it is that of the user whose session or run makes the call. The token is sent only to the origin for which the connection was set; with `type`, only to the `url` of the server. */ readonly auth: { readonly [name: string]: unknown } | null; /** `failing`: the server does not respond; `error` contains the reason, and it is retried. `disabled`: the server is not called. */ readonly status: "discovering" | "active" | "failing" | "disabled"; /** Reason for which the server currently cannot be used. */ readonly error: { readonly code: string; readonly message: string } | null; readonly failing_since: string | null; /** MCP revision that the server speaks. */ readonly protocol_version: string | null; readonly transport_used: "streamable_http" | "sse" | null; /** Name and version that the server reports. */ readonly server_info: { readonly [name: string]: unknown } | null; readonly tool_count: number; /** Number of tools that are pending review and not yet available to agents. */ readonly pending_review_count: number; /** SHA-256 of the snapshot of tools. */ readonly hash: string | null; readonly snapshot_at: string | null; /** Time at which the resource was created. */ readonly created_at: string; /** Time at which the resource was last updated. */ readonly updated_at: string }

export type McpResource = { readonly uri: string; readonly name: string; readonly description: string | null; readonly mime_type: string | null }

export type McpResourceTemplate = { /** URI template (RFC 6570). */ readonly uri_template: string; readonly name: string; readonly description: string | null; readonly mime_type: string | null }

export type McpResourceContent = { readonly uri: string; readonly mime_type: string | null; readonly text: string | null; /** Binary content as base64. */ readonly blob: string | null }

export type McpPrompt = { readonly name: string; readonly description: string | null; readonly arguments: readonly ({ readonly name: string; readonly description: string | null; readonly required: boolean })[] }

export type StuckWork = { readonly id: string; readonly kind: "parked_actor" | "poison_message" | "poison_result" | "refused_row" | "failing_reminder" | "overdue_effect" | "unfinished_commit"; readonly actor_id: string; readonly machine: string; readonly subject: string; readonly reason: string; readonly attempts: number; readonly tenant_id: string | null; readonly created_at: string; readonly updated_at: string }

export type StuckDecision = { readonly id: string; readonly decision: "retry" | "skip" | "discard" }

export type RetentionSettings = { /** Days after their last change for which sessions, with their events and actions, are kept. Null keeps them indefinitely. */ readonly sessions_days?: number | null; /** Days after their last change for which runs, with their events and actions, are kept. Null keeps them indefinitely. */ readonly runs_days?: number | null; /** Days after their last change for which standalone actions, which belong to no session or run, are kept. Null keeps them indefinitely. */ readonly actions_days?: number | null; /** Time of the last deletion that these settings caused; null if none. */ readonly applied_at: string | null }
