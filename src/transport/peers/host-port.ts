/** Address of a process. */
export interface HostPort {
  readonly host: string
  readonly port: number
}

/** The address as written in a lease: `host:port`, an IPv6 host in brackets. */
export const addressText = ({ host, port }: HostPort): string => `${host.includes(':') ? `[${host}]` : host}:${port}`

/** Parses the text of `addressText`; undefined for anything else. */
export const addressOf = (text: string): HostPort | undefined => {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  const port = Number(digits)
  return host === undefined || port < 1 || port > 65_535 ? undefined : { host, port }
}
