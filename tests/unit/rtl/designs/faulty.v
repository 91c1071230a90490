// SPDX-License-Identifier: Apache-2.0
// An APB completer that does at an address what its name says. 0x00 to 0x1c: registers. Waits for a random number of cycles.
module faulty (
    input             clk,
    input             rst_n,
    input             psel,
    input             penable,
    input             pwrite,
    input      [11:0] paddr,
    input      [31:0] pwdata,
    output reg [31:0] prdata,
    output reg        pready,
    output            pslverr,
    input      [1:0]  levels,
    output reg [1:0]  level_of_input,
    output            low_bit
);
    localparam NEVER = 12'h100, OSCILLATE = 12'h104, FINISH = 12'h108, STOP = 12'h10c, ERROR = 12'h110, FATAL = 12'h114,
        ASSERTION = 12'h118, DISPLAY = 12'h11c, UNWRITTEN = 12'h120, REFUSED = 12'h124;
    reg [31:0] registers [0:7];
    reg [31:0] unwritten;
    reg [7:0]  random;
    reg [1:0]  wait_left;
    reg        oscillates;
    /* verilator lint_off UNOPTFLAT */
    wire       loop = rst_n & oscillates & !loop;  // may be set before the reset
    /* verilator lint_on UNOPTFLAT */
    assign pslverr = pready && paddr == REFUSED;
    assign low_bit = registers[0][0] ^ loop;
    integer i;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            pready     <= 0;
            random     <= 8'h5a;
            wait_left  <= 0;
            oscillates <= 0;
            level_of_input <= 0;
            for (i = 0; i < 8; i = i + 1) registers[i] <= 0;
        end else begin
            level_of_input <= levels;
            pready <= 0;
            if (psel && !penable) begin
                wait_left <= random[1:0];
                random    <= {random[6:0], random[7] ^ random[5] ^ random[4] ^ random[3]};
            end
            if (psel && penable && !pready && paddr != NEVER) begin
                wait_left <= wait_left - 1;
                if (wait_left == 0) begin
                    pready <= 1;
                    if (pwrite && paddr < 12'h20) registers[paddr[4:2]] <= pwdata;
                    prdata <= paddr == UNWRITTEN ? unwritten : registers[paddr[4:2]];
                    case (paddr)
                        OSCILLATE: oscillates <= 1;
                        FINISH: $finish;
                        STOP: $stop;
                        ERROR: $error("the counter is %0d", 3);
                        FATAL: $fatal(1, "no way on");
                        DISPLAY: $display("hello from %m");
                        default: ;
                    endcase
                end
            end
        end
    always @(posedge clk) if (rst_n) begin
        assert (!(psel && penable && paddr == ASSERTION)) else $error("the address is not allowed");
    end
endmodule
