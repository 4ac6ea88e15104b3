// Drives `eitri debug` as an editor does, with the client that Microsoft tests debug adapters with.
// Arguments: the command, the folder with the shader, and `stdio` or a port. One line a case: `ok NAME` or `not ok NAME: WHY`.
const { DebugClient } = require('@vscode/debugadapter-testsupport');
const assert = require('assert');
const fs = require('fs');
const path = require('path');

const [eitri, folder, way] = process.argv.slice(2);
const shader = path.join(folder, 'sum.wgsl');
const launch = { program: shader, args: ['--buffer', '0=zero:256', '--groups', '2'] };

async function client() {
    // The client starts a program with one argument.
    const adapter = path.join(process.cwd(), 'adapter.sh');
    fs.writeFileSync(adapter, `exec '${eitri}' debug --dap\n`);
    const dc = new DebugClient('sh', adapter, 'eitri');
    await dc.start(way === 'stdio' ? undefined : Number(way));
    dc.defaultTimeout = 10000;
    return dc;
}

// Begins a session with these breakpoints, and waits until it stops.
async function stopped(dc, more, configure) {
    const stop = dc.waitForEvent('stopped');
    const ready = dc.waitForEvent('initialized');
    await dc.initializeRequest();
    const launched = dc.launchRequest({ ...launch, ...more });
    await ready;
    await launched;
    await configure();
    await dc.configurationDoneRequest();
    return (await stop).body;
}

const at = async (dc, threadId) => (await dc.stackTraceRequest({ threadId })).body.stackFrames;

async function after(dc, request, threadId) {
    const stop = dc.waitForEvent('stopped');
    await request({ threadId });
    return (await stop).body;
}

const cases = {
    async 'a breakpoint of a line is hit'(dc) {
        await dc.hitBreakpoint(launch, { path: shader, line: 15 });
    },

    async 'the first line is where it stops on entry'(dc) {
        const body = await stopped(dc, { stopOnEntry: true }, async () => {});
        assert.strictEqual(body.reason, 'entry');
        assert.strictEqual((await at(dc, body.threadId))[0].line, 10);
    },

    async 'frames, scopes, lanes and variables'(dc) {
        const body = await stopped(dc, {}, () =>
            dc.setFunctionBreakpointsRequest({ breakpoints: [{ name: 'square' }] }));
        assert.strictEqual(body.reason, 'function breakpoint');
        const frames = await at(dc, body.threadId);
        assert.deepStrictEqual(frames.map((frame) => frame.name), ['square', 'main']);
        assert.strictEqual(fs.realpathSync(frames[0].source.path), fs.realpathSync(shader));
        const { scopes } = (await dc.scopesRequest({ frameId: frames[0].id })).body;
        assert.deepStrictEqual(scopes.slice(0, 2).map((scope) => scope.name), ['Locals', 'Globals']);
        const lane = scopes.find((scope) => scope.name.startsWith('lane 3:'));
        const of = async (scope) =>
            (await dc.variablesRequest({ variablesReference: scope.variablesReference })).body.variables;
        assert.strictEqual((await of(lane)).find((own) => own.name === 'x').value, '3');
        const globals = await of(scopes[1]);
        const shared = globals.find((own) => own.name === 's');
        assert.strictEqual(shared.indexedVariables, 32);
        const part = await dc.variablesRequest({
            variablesReference: shared.variablesReference, filter: 'indexed', start: 30, count: 2,
        });
        assert.deepStrictEqual(part.body.variables.map((own) => own.name), ['[30]', '[31]']);
        const main = await dc.evaluateRequest({ expression: 'i + 1', frameId: frames[1].id });
        assert.strictEqual(main.body.result, '<1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16>');
        const threads = (await dc.threadsRequest()).body.threads;
        assert.strictEqual(threads.length, 2);
    },

    async 'a condition holds in one lane'(dc) {
        const body = await stopped(dc, {}, () => dc.setBreakpointsRequest({
            source: { path: shader }, breakpoints: [{ line: 23, condition: 'i == 21' }],
        }));
        assert.strictEqual(body.text, 'lanes 5');
        assert.strictEqual(body.threadId, 2);
    },

    async 'steps into, over and out, by line and by instruction'(dc) {
        const body = await stopped(dc, {}, () => dc.setBreakpointsRequest({
            source: { path: shader }, breakpoints: [{ line: 11 }],
        }));
        const line = async () => (await at(dc, body.threadId))[0].line;
        const go = (request) => after(dc, request.bind(dc), body.threadId);
        const before = (await at(dc, body.threadId))[0].instructionPointerReference;
        const stop = dc.waitForEvent('stopped');
        await dc.customRequest('next', { threadId: body.threadId, granularity: 'instruction' });
        await stop;
        assert.notStrictEqual((await at(dc, body.threadId))[0].instructionPointerReference, before);
        await go(dc.stepInRequest);
        assert.strictEqual(await line(), 5);
        await go(dc.stepOutRequest);
        assert.strictEqual(await line(), 11);
        await go(dc.nextRequest);
        assert.strictEqual(await line(), 12);
    },

    async 'back by a line, and to the store that a value came from'(dc) {
        const body = await stopped(dc, { stopOnExit: true }, async () => {});
        assert.strictEqual(body.reason, 'exit');
        const info = (await dc.dataBreakpointInfoRequest({ name: 'o[3]' })).body;
        assert.ok(info.dataId, info.description);
        await dc.setDataBreakpointsRequest({ breakpoints: [{ dataId: info.dataId, accessType: 'write' }] });
        const stop = await after(dc, dc.reverseContinueRequest.bind(dc), body.threadId);
        assert.strictEqual(stop.reason, 'data breakpoint');
        assert.match(stop.text, /o\[3\] of lane 3 of warp 0 at .*sum\.wgsl:23: 0 -> 7482/);
        await after(dc, dc.stepBackRequest.bind(dc), stop.threadId);
        const result = await dc.evaluateRequest({ expression: 'o[3]', frameId: (await at(dc, stop.threadId))[0].id });
        assert.strictEqual(result.body.result, '0');
    },

    async 'instructions and memory'(dc) {
        const body = await stopped(dc, {}, () => dc.setBreakpointsRequest({
            source: { path: shader }, breakpoints: [{ line: 14 }],
        }));
        const frame = (await at(dc, body.threadId))[0];
        const { instructions } = (await dc.disassembleRequest({
            memoryReference: frame.instructionPointerReference, instructionOffset: -2, instructionCount: 6,
        })).body;
        assert.strictEqual(instructions.length, 6);
        assert.strictEqual(instructions[2].address, frame.instructionPointerReference);
        const shared = (await dc.evaluateRequest({ expression: 's[5]', frameId: frame.id })).body;
        const memory = await dc.customRequest('readMemory', { memoryReference: shared.memoryReference, count: 4 });
        assert.strictEqual(Buffer.from(memory.body.data, 'base64').readUInt32LE(), 25);
        const next = instructions[3].address;
        await dc.customRequest('setInstructionBreakpoints', { breakpoints: [{ instructionReference: next }] });
        const stop = await after(dc, dc.continueRequest.bind(dc), body.threadId);
        assert.strictEqual(stop.reason, 'instruction breakpoint');
    },

    async 'a shader that never ends is paused'(dc) {
        launch.program = path.join(folder, 'endless.wgsl');
        const ready = dc.waitForEvent('initialized');
        await dc.initializeRequest();
        await dc.launchRequest({ ...launch, args: ['--buffer', '0=zero:4'] });
        await ready;
        await dc.configurationDoneRequest();
        await new Promise((done) => setTimeout(done, 200));
        const stop = await after(dc, dc.pauseRequest.bind(dc), 1);
        assert.strictEqual(stop.reason, 'pause');
        launch.program = shader;
    },

    async 'requests that are wrong get an error, and the session goes on'(dc) {
        const body = await stopped(dc, { stopOnEntry: true }, async () => {});
        for (const [command, args] of [
            ['stackTrace', { threadId: 99 }], ['scopes', {}], ['variables', { variablesReference: 77 }],
            ['evaluate', { expression: '1 +' }], ['evaluate', {}], ['disassemble', { memoryReference: 'x' }],
            ['readMemory', { memoryReference: 'nowhere', count: 4 }], ['setBreakpoints', {}], ['dance', null],
        ]) {
            await assert.rejects(dc.customRequest(command, args), command);
        }
        assert.strictEqual((await at(dc, body.threadId)).length, 1);
    },

    async 'a shader that is not there is said'(dc) {
        await dc.initializeRequest();
        await assert.rejects(dc.launchRequest({ program: path.join(folder, 'nothing.wgsl') }), /nothing\.wgsl/);
    },

    async 'the end is told'(dc) {
        const exited = dc.waitForEvent('exited');
        const ready = dc.waitForEvent('initialized');
        await dc.initializeRequest();
        await dc.launchRequest(launch);
        await ready;
        const ended = dc.waitForEvent('terminated');
        await dc.configurationDoneRequest();
        assert.strictEqual((await exited).body.exitCode, 0);
        await ended;
    },
};

(async () => {
    for (const [name, run] of Object.entries(cases)) {
        const dc = await client();
        try {
            await run(dc);
            console.log(`ok ${name}`);
        } catch (error) {
            console.log(`not ok ${name}: ${String(error.message).replace(/\s+/g, ' ')}`);
        }
        await Promise.race([dc.stop().catch(() => {}), new Promise((done) => setTimeout(done, 2000))]);
    }
    process.exit(0);
})();
