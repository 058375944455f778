import { closeAll, createContext, type Closers, type Context, type ServerOverrides } from './compose/context.js';
import { warnOfExposure } from './compose/exposure.js';
import { ensureInitialProject } from './compose/initial-project.js';
import { createBodies, openGrpc, openHttp } from './compose/listeners.js';
import { openServices, type Services } from './compose/services.js';
import { publicUrl, type Config } from './config/config.js';
import type { BootstrapResult } from './engine/identity/bootstrap.js';
import { consoleUrl, signInUrl } from './engine/identity/sign-in.js';
import type { Listener } from './http/listener.js';

export interface RunningServer {
  /** Base of every URL handed out. */
  readonly url: string;
  readonly port: number;
  /** Where OTLP over gRPC is taken; null when it is not. */
  readonly grpcPort: number | null;
  /** The project and key that the first start made; the key is null when the configuration named it. */
  readonly created: { readonly projectId: string; readonly key: string | null; readonly signInUrl: string } | null;
  /** Where people open the console. */
  readonly consoleUrl: string;
  /** Finishes what was accepted, then closes everything. Safe to call twice. */
  stop(): Promise<void>;
}

type Created = NonNullable<BootstrapResult['created']>;

/** Share of the shutdown time that requests in progress are given; the rest is for closing everything else. */
const STOP_SHARE = 0.8;

/**
 * Starts the whole server.
 * @throws DataDirLockedError, ExternalServerError, LeaseError, MigrationError, DomainError (init variables), or Error with `code`
 *   (EADDRINUSE, EACCES): nothing is left open then
 */
export async function startServer(config: Config, overrides: ServerOverrides = {}): Promise<RunningServer> {
  const closers: Closers = [];
  const close = () => closeAll(closers);
  const listeners: Listener[] = [];
  const baseUrl = () => publicUrl(config.http, listeners[0]?.port ?? 0);
  try {
    const context = await createContext({ config, overrides, closers, baseUrl }, close);
    const started = await start(context, listeners);
    let stopped: Promise<void> | undefined;
    return { ...started, stop: () => (stopped ??= close()) };
  } catch (error) {
    await close();
    throw error;
  }
}

async function start(context: Context, listeners: Listener[]): Promise<Omit<RunningServer, 'stop'>> {
  const { config, events, closers, tracing } = context;
  for (const detail of config.warnings) events.settingUnknown({ detail });
  warnOfExposure(config, events);
  const services = await openServices(context);
  const deadlineMs = config.shutdownTimeoutSeconds * 1000 * STOP_SHARE;
  closers.push(async () => {
    // No one would end them: all other requests end by themselves.
    services.tails.close();
    await Promise.all(listeners.map((listener) => listener.stop(deadlineMs)));
  });
  // Before the listeners, as they may be where the server's own traces go.
  closers.push(() => tracing?.flush());
  const bodies = createBodies(context);
  const http = await openHttp(context, services, bodies);
  listeners.push(http);
  const grpc = await openGrpc(context, services, bodies);
  if (grpc !== null) listeners.push(grpc);

  // Last, when nothing can fail anymore: the first key is shown once, so it must not be made by a start that fails.
  const created = ensureInitialProject(context, services.identity);
  const url = publicUrl(config.http, http.port);
  services.signIns.openedAt(url);
  const grpcPort = grpc?.port ?? null;
  // On a terminal, whoever started the server says so.
  if (config.log.format === 'json') events.listening({ url, grpcPort });
  return {
    url,
    consoleUrl: consoleUrl(url),
    port: http.port,
    grpcPort,
    created: created && firstSignIn(services, url, created),
  };
}

/** Whoever starts a server for the first time sees it in a browser, without a key to paste. */
function firstSignIn(
  { signIns }: Services,
  url: string,
  { projectId, userId, key }: Created,
): RunningServer['created'] {
  const { code } = signIns.makeCode(userId, projectId, () => projectId);
  return { projectId, key, signInUrl: signInUrl(url, code) };
}
