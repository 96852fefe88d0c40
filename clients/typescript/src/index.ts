/** Client of the affinity-bandits service: typed requests, and decisions from memory. */
import createClient from "openapi-fetch";

import { InvalidInput } from "./errors.js";
import type { paths } from "./schema.js";
import { DecisionStream, type StreamOptions } from "./stream.js";

export { InvalidInput, NoDecision, RequestRefused, StreamFull } from "./errors.js";
export type { components, paths } from "./schema.js";
export type { Decision, DecisionStream, Rater, StreamOptions, StreamStats } from "./stream.js";

const API_KEY = /^ab_[0-9a-f]{16}_[0-9a-f]{64}$/;

export interface ConnectOptions {
  /** Seconds for one request, from connecting to the last byte of the reply; by default 30. */
  timeout?: number;
}

/**
 * Return a client of the service.
 *
 * Its methods GET, POST and DELETE send one request each, typed by the service's OpenAPI description
 * (see openapi-fetch). `stream` opens a stream of decisions; it needs an API key with the scopes
 * "ask", "tell" and "read".
 */
export function connect(url: string, key: string, options: ConnectOptions = {}) {
  const { timeout = 30 } = options;
  if (!/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ""))
    throw new InvalidInput("url", "an address such as https://decisions.example.com", url);
  const bare = key.trim(); // a file with a key ends in a line end
  // Said without the value, which may be most of a real key.
  if (!API_KEY.test(bare)) throw new InvalidInput("key", "an API key: ab_, 16 and 64 hexadecimal digits", "another text");
  if (!(timeout >= 0.001 && timeout <= 86_400)) throw new InvalidInput("timeout", "from 0.001 to 86400 seconds", timeout);
  const headers = { Authorization: `Bearer ${bare}` };
  // Redirects are not followed: the key is for this address alone.
  const client = createClient<paths>({ baseUrl: url, headers, redirect: "error", fetch: bounded });

  function bounded(request: Request): Promise<Response> {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeout * 1_000)]);
    return fetch(new Request(request, { signal }));
  }

  return {
    ...client,
    /** Open a stream of decisions of a campaign, given its id. */
    stream: (campaign: string, options: StreamOptions = {}) => new DecisionStream(client, campaign, options),
  };
}
