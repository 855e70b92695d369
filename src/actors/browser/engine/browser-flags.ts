/**
 * Features that are disabled: those of Playwright, whose list the last switch replaces, and those with which a browser
 * calls its maker's servers.
 */
export const disabledFeatures: readonly string[] = [
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...[
    'HttpsFirstBalancedModeAutoEnable',
    'LensOverlay',
    'MediaRouter',
    'PaintHolding',
    'ThirdPartyStoragePartitioning',
  ],
  ...['AvoidCorsURLLoaderRestartOnRedirect', 'TcpPortRandomizationWin', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch', 'msForceBrowserSignIn'],
  'msEdgeUpdateLaunchServicesPreferredVersion',
  ...[
    'AutofillServerCommunication',
    'Translate',
    'OptimizationGuideModelDownloading',
    'InterestFeedContentSuggestions',
  ],
  ...['CertificateTransparencyComponentUpdater', 'DialMediaRouteProvider'],
]

/**
 * A proxy that no name resolves to. The browser's own services use it, such as updates, sign-in, spelling dictionaries
 * and safe browsing; only the pages' context uses the guarded proxy. So they reach nothing, whatever a release adds.
 */
const noProxy = 'http://none.invalid:1'

/**
 * Flags that force all traffic of pages through the proxy of their context: requests to this machine use it too, host
 * names are resolved nowhere else, and QUIC and WebRTC send no datagrams. Shared workers are disabled because their
 * requests belong to no page and could not be intercepted.
 */
export const browserFlags: readonly string[] = [
  `--proxy-server=${noProxy}`,
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--disable-quic',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-blink-features=SharedWorker',
  '--dns-prefetch-disable',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-domain-reliability',
  '--disable-client-side-phishing-detection',
  '--safebrowsing-disable-auto-update',
  '--no-pings',
  `--disable-features=${disabledFeatures.join(',')}`,
  '--disk-cache-size=33554432',
  '--disable-gpu',
]

/** Returns the proxy settings of the pages' context. */
export const contextProxy = (url: string) => ({ server: url, bypass: '<-loopback>' })
