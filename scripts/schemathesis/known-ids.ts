/** Sends one request and returns the JSON of its answer. @throws {Error} when the request is refused. */
export type Send = (method: string, path: string, body?: unknown) => Promise<Readonly<Record<string, unknown>>>

/** Values of path parameters, by name. */
export type KnownIds = Readonly<Record<string, string>>

/** Returns a `Send` for the server at `url`, with a secret key. */
export const sender =
  (url: string, key: string): Send =>
  async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return Object(await response.json())
  }

/**
 * Creates one of every resource, so that requests get further than "not found". `name` keeps two sets apart; `models`
 * is the base URL of a server with a list of models.
 */
export const makeResources = async (send: Send, name: string, models: string): Promise<KnownIds> => {
  const config = { model: 'simulated-1', system_prompt: 'Be short.' }
  const tenant_id = await idOf(send('POST', '/v1/tenants', { external_id: name, name }))
  const agent_id = await idOf(send('POST', '/v1/agents', { name, config }))
  const version = '1.0.0'
  await send('POST', `/v1/agents/${agent_id}/versions`, { version, config: { ...config, tools: [] } })
  await send('POST', `/v1/agents/${agent_id}/versions/${version}/publish`)
  const installation_id = await idOf(send('POST', '/v1/agent-installations', { tenant_id, agent_id }))
  const session_id = await idOf(send('POST', '/v1/sessions', {}))
  const action_id = await idOf(send('POST', '/v1/actions', { tool: 'pay', arguments: { amount: 1 } }))
  const run_id = await idOf(send('POST', `/v1/agents/${agent_id}/runs`, { tenant_id, input: { prompt: 'Hello' } }))
  const hook = { name, url: 'https://example.com/hook', events: ['tenant.deleted'], is_active: false }
  const webhook_id = await idOf(send('POST', '/v1/webhooks', hook))
  const delivery_id = await idOf(send('POST', `/v1/webhooks/${webhook_id}/test`))
  const connection = { name, provider: 'own', base_url: models, api_key: 'key' }
  const connection_id = await idOf(send('POST', '/v1/provider-connections', connection))
  const response_id = await idOf(send('POST', '/v1/responses', { model: 'simulated-1', input: 'Hello' }))
  const external_user_id = 'ada'
  await send('PUT', `/v1/tenants/${tenant_id}/users/${external_user_id}`, {})
  return {
    tenant_id,
    agent_id,
    version,
    installation_id,
    session_id,
    action_id,
    run_id,
    webhook_id,
    delivery_id,
    external_user_id,
    connection_id,
    response_id,
    model: 'simulated-1',
  }
}

const idOf = async (made: ReturnType<Send>): Promise<string> => String((await made).id)
