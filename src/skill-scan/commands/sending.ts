import { hostOf, isForge, isNear } from './addresses.ts'
import { isForeignTo, isShownToStranger } from './secret-places.ts'
import { traitOf, type Value } from './value.ts'
import type { World } from './world.ts'

const leaks = 'Data of the user is sent to somewhere else.'

/** Services that collect requests for the one who made an address there. */
const collectors =
  /(?:^|\.)(?:webhook\.site|requestbin\.\w{2,6}|pipedream\.net|ngrok(?:-free)?\.(?:io|app|dev)|interact\.sh|oast\.\w{2,6}|oastify\.com|burpcollaborator\.net|canarytokens\.\w{2,6}|beeceptor\.com|hookbin\.com|postb\.in|dnslog\.cn|transfer\.sh|file\.io|0x0\.st|termbin\.com|ix\.io|paste\.rs|bashupload\.com|gofile\.io|temp\.sh|trycloudflare\.com|serveo\.net|localtunnel\.me|loca\.lt|requestcatcher\.com|mockbin\.\w{2,4}|api\.telegram\.org|pastebin\.com|ntfy\.sh)$/iu

/** Reports data that leaves the machine, unless it goes to the network of the machine itself. */
export const sends = (world: World, to: string, data: Value): void => {
  if (to.includes('.') || /^(?:localhost|\[?::1)/iu.test(hostOf(to) ?? '') ? isNear(to) : false) return
  const host = hostOf(to) ?? ''
  const secret = traitOf(data, 'secret')
  const foreign = data.traits.find(({ kind, from }) => kind === 'credential' && isForeignTo(from, host))
  if (secret !== undefined) report(world, `${leaks} It holds ${secret.from}.`)
  else if (foreign !== undefined && host !== '' && !host.startsWith('$'))
    report(world, `A credential, ${foreign.from}, is sent to a host of somebody else.`)
  else if (traitOf(data, 'workspace') !== undefined) report(world, `${leaks} It holds all files of a folder.`)
  else if (traitOf(data, 'identity') !== undefined) identified(world, to, data)
  else if (collectors.test(host) && data.text !== '' && !/\/bot[$<{_]/u.test(to))
    report(world, `${leaks} The host collects requests.`)
}

const report = (world: World, message: string): void => world.report({ code: 'exfiltration', message })

/** Reports a credential that lets its caller in, when the host is not of the service that it is for. */
export const shows = (world: World, to: string, login: Value): void => {
  const host = hostOf(to) ?? ''
  const stranger = login.traits.find(({ kind, from }) => kind === 'credential' && isShownToStranger(from, host))
  if (stranger !== undefined && !isNear(to) && !/example\.(?:com|org)$/iu.test(host))
    report(world, `A credential, ${stranger.from}, is sent to a host of somebody else.`)
}

/** A name of the machine or the user is sent: by a command that finds it, not by a variable that a person may set. */
const identified = (world: World, to: string, data: Value): void => {
  const found = data.traits.some(({ kind, from }) => kind === 'identity' && from === from.toLowerCase())
  const isOwn = to.startsWith('$') || isForge(to) || /^https:\/\/hooks\.slack\.com\//iu.test(to)
  world.report({
    code: 'exfiltration',
    severity: found && !isOwn ? 'blocker' : 'warning',
    message: 'The name of the machine or of its user is sent to somewhere else.',
  })
}

/** Returns the data of a header that carries more than what a caller shows to be let in. */
export const headerData = (header: Value): Value | undefined => {
  const isAuth =
    /^\s{0,4}["']?(?:authorization|x-api-key|api-key|private-token|x-auth-token|x-\w{1,20}-token|cookie|apikey)\b/iu.test(
      header.text,
    )
  const kinds = isAuth
    ? header.traits.filter(
        ({ kind, from }) => kind === 'secret' && /ssh|aws|shadow|environment|chrome|firefox|gnupg/iu.test(from),
      )
    : header.traits
  return kinds.length === 0 ? undefined : { text: '', traits: kinds }
}
