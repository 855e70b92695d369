import type { Services } from '../capability/services.ts'
import { ConnectionServers } from './connection-servers.ts'
import { ConnectionTester } from './connection-tester.ts'
import { ConnectionVault } from './connection-vault.ts'
import { ConnectorClients } from './connector-clients.ts'
import { Discoveries } from './discovery/discoveries.ts'
import { SignInLinks } from './oauth/sign-in-links.ts'
import { SignIns } from './oauth/sign-ins.ts'
import { ConnectionTools } from './tools/connection-tools.ts'
import { openApiReader } from './tools/read-openapi.ts'
import { ConnectionAccesses } from './use/connection-access.ts'
import { ConnectorTargets } from './use/connector-targets.ts'
import { OwnConnections } from './use/own-connections.ts'
import { RemoteConnections } from './use/remote-connections.ts'

/** Opens what uses connections on this node. */
export const openConnections = (services: Services, serverUrl: string) => {
  const { host, clock, guard, now } = services
  const vault = new ConnectionVault(services)
  const clients = new ConnectorClients(services)
  const signIns = new SignIns(services)
  const links = new SignInLinks(signIns, serverUrl)
  const discoveries = new Discoveries(services)
  const servers = new ConnectionServers({ host, vault, clients, discoveries, guard, links, now })
  const own = new OwnConnections(services)
  const remote = new RemoteConnections({ ...services, vault })
  const accesses = new ConnectionAccesses({ host, vault, own, links, clock, discoveries, servers, remote })
  const reader = openApiReader(guard)
  const tools = new ConnectionTools({ ...services, read: reader.read })
  const targets = new ConnectorTargets({ host, own, tools, servers, clients })
  const tester = new ConnectionTester({ accesses, servers, tools, guard, now })
  return {
    vault,
    clients,
    servers,
    signIns,
    links,
    discoveries,
    accesses,
    tools,
    targets,
    tester,
    random: Math.random,
    close: reader.close,
  }
}
