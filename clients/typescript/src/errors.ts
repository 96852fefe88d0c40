/** An argument breaks a rule. */
export class InvalidInput extends Error {
  override readonly name = "InvalidInput";

  constructor(
    readonly parameter: string,
    readonly rule: string,
    value: unknown,
  ) {
    super(`${parameter} must be ${rule}, got ${typeof value === "string" ? JSON.stringify(value) : String(value)}`);
  }
}

/** No slot is in memory, and there is no fallback. */
export class NoDecision extends Error {
  override readonly name = "NoDecision";
}

/** An answer was not taken, because too many wait for the service or the disk is full. */
export class StreamFull extends Error {
  override readonly name = "StreamFull";
}

/** The service refused a request; a repeat would be refused again. */
export class RequestRefused extends Error {
  override readonly name = "RequestRefused";

  constructor(
    readonly status: number,
    readonly detail: string,
    remedy = "",
  ) {
    super(`${detail} (HTTP ${status})${remedy}`);
  }
}
