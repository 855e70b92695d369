/**
 * Statuses of the resources that state machines run, by machine. A machine gives each of its states one of them
 * (src/machines/status.ts).
 */
export const statuses = {
  action: [
    'pending_approval',
    'awaiting_connection',
    'awaiting_input',
    'approved',
    'executing',
    'executed',
    'failed',
    'rejected',
    'expired',
  ],
  agent_version: ['draft', 'in_review', 'published', 'deprecated', 'retired'],
  batch: ['validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired', 'cancelling', 'cancelled'],
  browser_job: ['queued', 'running', 'completed', 'failed', 'cancelled'],
  connection: ['pending', 'active', 'expired', 'error', 'revoked'],
  delivery: ['pending', 'delivered', 'failed'],
  knowledge_source: ['pending', 'ready', 'failed'],
  mcp_server: ['discovering', 'active', 'failing', 'disabled'],
  memory_write: ['pending', 'success', 'error'],
  response: ['queued', 'in_progress', 'completed', 'incomplete', 'failed', 'cancelled'],
  run: ['queued', 'running', 'requires_action', 'completed', 'failed', 'cancelled', 'expired'],
  session: ['active', 'paused', 'completed'],
  web_crawl: ['crawling', 'completed', 'failed', 'cancelled'],
} as const

/** A status of a resource, such as `Status<'run'>`. */
export type Status<Machine extends keyof typeof statuses> = (typeof statuses)[Machine][number]
