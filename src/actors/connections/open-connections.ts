import type { House } from '../capability/house.ts'
import { ConnectionServers } from './connection-servers.ts'
import { ConnectionTester } from './connection-tester.ts'
import { ConnectionVault } from './connection-vault.ts'
import { ConnectorClients } from './connector-clients.ts'
import { SignInLinks } from './oauth/sign-in-links.ts'
import { SignIns } from './oauth/sign-ins.ts'
import { ConnectionTools } from './tools/connection-tools.ts'
import { openApiReader } from './tools/read-openapi.ts'
import { ConnectionAccesses } from './use/connection-access.ts'
import { ConnectorTargets } from './use/connector-targets.ts'
import { OwnConnections } from './use/own-connections.ts'

/** Opens what uses connections on this node. */
export const openConnections = (house: House, serverUrl: string) => {
  const { host, clock, guard, now } = house
  const vault = new ConnectionVault(house)
  const clients = new ConnectorClients(house)
  const servers = new ConnectionServers({ host, vault, clients })
  const signIns = new SignIns(house)
  const links = new SignInLinks(signIns, serverUrl)
  const own = new OwnConnections(house)
  const accesses = new ConnectionAccesses({ host, vault, own, links, clock })
  const reader = openApiReader(guard)
  const tools = new ConnectionTools({ ...house, read: reader.read })
  const targets = new ConnectorTargets({ host, own, tools, servers, clients })
  const tester = new ConnectionTester({ accesses, servers, tools, guard, now })
  return {
    vault,
    clients,
    servers,
    signIns,
    links,
    accesses,
    tools,
    targets,
    tester,
    random: Math.random,
    close: reader.close,
  }
}
