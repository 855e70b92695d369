import type { AgentReach } from '#actors/call/reach.ts'

class Everything extends Set<string> {
  override has(): boolean {
    return true
  }
}

/** An agent's key that reaches every model, tool server and tenant, for tests of other rules. */
export const wholeReach: AgentReach = {
  models: new Everything(),
  toolServers: new Everything(),
  guardrails: [],
  serves: () => true,
  tenants: async () => [],
}
