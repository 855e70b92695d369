/** The machine of an actor by how its id begins. Made from the machines by `npm run generate`. */
export const actorPrefixes: Readonly<Record<string, string>> = {
  era: 'erasure',
  dlv: 'delivery',
  resp: 'response',
  batch: 'batch',
  mwr: 'memory_write',
  agv: 'agent_version',
  ses: 'session',
  act: 'action',
  run: 'run',
  rqu: 'run_queue',
  src: 'knowledge_source',
  ksr: 'knowledge_source',
  crw: 'web_crawl',
  con: 'connection',
  job: 'browser_job',
  mcp: 'mcp_server',
}
