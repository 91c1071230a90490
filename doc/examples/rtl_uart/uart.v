// SPDX-License-Identifier: Apache-2.0
// A ns16550a with 32-bit slots behind APB: the registers of models/soc/uart/uart.regs.yaml.

module uart (
    input             clk,
    input             rst_n,
    // APB
    input             psel,
    input             penable,
    input             pwrite,
    input      [11:0] paddr,
    input      [31:0] pwdata,
    output reg [31:0] prdata,
    output            pready,
    output            pslverr,
    // Serial line, interrupt
    input             rxd,
    output            rts_n,  // low: there is room for a character
    output            txd,
    output            irq
);
    localparam DATA = 0, IER = 1, IIR_FCR = 2, LCR = 3, MCR = 4, LSR = 5, MSR = 6, SCR = 7;

    reg  [7:0]  lcr;
    reg  [4:0]  mcr;
    reg  [7:0]  scr;
    reg  [3:0]  ier;
    reg  [15:0] divisor;
    reg         fifos_on;
    reg  [1:0]  trigger_code;

    // --- Bus: one wait state, so that reads with effects happen once.
    wire        is_hole    = paddr[11:5] != 0 || paddr[1:0] != 0;
    wire [2:0]  register   = paddr[4:2];
    wire        is_refused = is_hole || (pwrite && (register == LSR || register == MSR));
    reg         answered;
    wire        access     = psel && penable && !answered && !is_refused;
    wire        writes     = access && pwrite;
    wire        reads      = access && !pwrite;
    wire        latch      = lcr[7];
    assign pready  = answered;
    assign pslverr = answered && is_refused;

    wire write_data = writes && register == DATA && !latch;
    wire read_data  = reads && register == DATA && !latch;
    wire write_fcr  = writes && register == IIR_FCR;
    wire switches   = write_fcr && pwdata[0] != fifos_on;
    wire clear_rx   = switches || (write_fcr && pwdata[1]);
    wire clear_tx   = switches || (write_fcr && pwdata[2]);

    // --- Rate: 16 ticks in a bit; stands still while nothing is sent, received or aged.
    reg  [15:0] prescaler;
    wire [15:0] reload = divisor == 0 ? 16'd0 : divisor - 16'd1;
    wire        tick   = prescaler == 0;
    wire        is_busy;
    always @(posedge clk or negedge rst_n)
        if (!rst_n) prescaler <= 0;
        else if (!is_busy || tick) prescaler <= reload;
        else prescaler <= prescaler - 16'd1;

    wire [3:0] data_bits = 4'd5 + {2'b00, lcr[1:0]};
    wire [3:0] frame_bits = 4'd1 + data_bits + {3'b0, lcr[3]} + (lcr[2] ? 4'd2 : 4'd1);
    wire [4:0] depth = fifos_on ? 5'd16 : 5'd1;

    function parity_of(input [7:0] character, input [5:3] kind);
        // Stick parity, else even or odd.
        parity_of = kind[5] ? !kind[4] : ^character ^ !kind[4];
    endfunction
    wire [7:0] mask = 8'hff >> (4'd8 - data_bits);

    // --- Transmitter
    reg  [7:0]  tx_fifo [0:15];
    reg  [3:0]  tx_first;
    reg  [4:0]  tx_count;
    reg  [12:0] tx_shift;
    reg  [3:0]  tx_left;   // bits
    reg  [3:0]  tx_ticks;
    wire        tx_empty = tx_count == 0;
    wire        tx_idle  = tx_empty && tx_left == 0;
    wire        tx_load  = tx_left == 0 && !tx_empty && !clear_tx;
    wire        tx_push  = write_data && tx_count < depth;
    wire [7:0]  tx_next  = tx_fifo[tx_first] & mask;
    wire [12:0] tx_ones  = 13'h1fff << (4'd1 + data_bits);
    wire [12:0] tx_parity = 13'd1 << (4'd1 + data_bits);
    wire        line     = tx_left == 0 ? 1'b1 : tx_shift[0];
    assign txd = mcr[4] ? 1'b1 : line && !lcr[6];

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            tx_first <= 0;
            tx_count <= 0;
            tx_left  <= 0;
            tx_ticks <= 0;
            tx_shift <= 13'h1fff;
        end else begin
            if (tx_load) begin
                tx_left  <= frame_bits;
                tx_ticks <= 15;
                tx_shift <= {4'h0, tx_next, 1'b0} | tx_ones
                    & ~(lcr[3] && !parity_of(tx_next, lcr[5:3]) ? tx_parity : 13'd0);
                tx_first <= tx_first + 4'd1;
            end else if (tx_left != 0 && tick) begin
                tx_ticks <= tx_ticks - 4'd1;
                if (tx_ticks == 0) begin
                    tx_left  <= tx_left - 4'd1;
                    tx_shift <= {1'b1, tx_shift[12:1]};
                end
            end
            if (tx_push) tx_fifo[tx_first + tx_count[3:0]] <= pwdata[7:0];
            tx_count <= clear_tx ? 5'd0 : tx_count + {4'd0, tx_push} - {4'd0, tx_load};
        end

    // --- Receiver: samples in the middle of a bit.
    reg  [7:0]  rx_fifo [0:15];
    reg  [3:0]  rx_first;
    reg  [4:0]  rx_count;
    reg  [8:0]  rx_shift;
    reg  [3:0]  rx_left;   // bits, with the start bit and one stop bit
    reg  [3:0]  rx_ticks;
    reg         overrun, timed_out;
    reg  [9:0]  age;       // ticks since the receive FIFO has changed
    wire        rx_line = mcr[4] ? line : rxd;
    wire        rx_sample = rx_left != 0 && tick && rx_ticks == 0;
    wire        rx_end  = rx_sample && rx_left == 1;
    wire        rx_push = rx_end && rx_count < depth && !clear_rx;
    wire        rx_pop  = read_data && rx_count != 0;
    wire [3:0]  rx_bits = data_bits + {3'b0, lcr[3]};
    wire [8:0]  rx_aligned = rx_shift >> (4'd9 - rx_bits);
    wire        ages    = fifos_on && rx_count != 0 && !timed_out;
    assign rts_n = rx_count + {4'd0, rx_left != 0} >= depth;
    assign is_busy = tx_left != 0 || !tx_empty || rx_left != 0 || !rx_line || ages;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            rx_first  <= 0;
            rx_count  <= 0;
            rx_left   <= 0;
            rx_ticks  <= 0;
            rx_shift  <= 0;
            overrun   <= 0;
            timed_out <= 0;
            age       <= 0;
        end else begin
            if (rx_left == 0) begin
                if (!rx_line) begin
                    rx_left  <= rx_bits + 4'd2;
                    rx_ticks <= 7;
                end
            end else if (tick) begin
                rx_ticks <= rx_ticks - 4'd1;
                if (rx_sample) begin
                    rx_left <= rx_line && rx_left == rx_bits + 4'd2 ? 4'd0 : rx_left - 4'd1;
                    if (rx_left > 1) rx_shift <= {rx_line, rx_shift[8:1]};
                end
            end
            if (rx_push) rx_fifo[rx_first + rx_count[3:0]] <= rx_aligned[7:0] & mask;
            if (rx_pop) rx_first <= rx_first + 4'd1;
            rx_count <= clear_rx ? 5'd0 : rx_count + {4'd0, rx_push} - {4'd0, rx_pop};
            if (rx_end && rx_count >= depth) overrun <= 1;
            else if (reads && register == LSR) overrun <= 0;
            if (clear_rx || rx_push || rx_pop) begin
                age       <= 0;
                timed_out <= 0;
            end else if (ages && tick) begin
                age <= age + 10'd1;
                if (age == {frame_bits, 6'd0} - 10'd1) timed_out <= 1;
            end
        end

    // --- Interrupts
    reg        tx_pending;
    reg        tx_was_empty;
    reg  [4:0] level;
    always @*
        case (trigger_code)
            0: level = 1;
            1: level = 4;
            2: level = 8;
            3: level = 14;
        endcase
    wire       line_pending = ier[2] && overrun;
    wire       data_pending = ier[0] && rx_count >= (fifos_on ? level : 5'd1);
    wire       time_pending = ier[0] && timed_out;
    wire [3:0] cause = line_pending ? 4'd6 : data_pending ? 4'd4 : time_pending ? 4'd12
                     : ier[1] && tx_pending ? 4'd2 : 4'd1;
    wire       write_ier = writes && register == IER && !latch;
    assign irq = cause != 1;

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            tx_pending   <= 0;
            tx_was_empty <= 1;
        end else begin
            tx_was_empty <= tx_empty;
            if (write_data || (reads && register == IIR_FCR && cause == 2)) tx_pending <= 0;
            else if (write_ier && pwdata[1] && !ier[1]) tx_pending <= tx_empty;
            else if (tx_empty && !tx_was_empty) tx_pending <= 1;
        end

    // --- Registers
    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            lcr          <= 0;
            mcr          <= 0;
            scr          <= 0;
            ier          <= 0;
            divisor      <= 0;
            fifos_on     <= 0;
            trigger_code <= 0;
        end else if (writes)
            case (register)
                DATA: if (latch) divisor[7:0] <= pwdata[7:0];
                IER: if (latch) divisor[15:8] <= pwdata[7:0]; else ier <= pwdata[3:0];
                IIR_FCR: begin
                    fifos_on     <= pwdata[0];
                    trigger_code <= pwdata[7:6];
                end
                LCR: lcr <= pwdata[7:0];
                MCR: mcr <= pwdata[4:0];
                SCR: scr <= pwdata[7:0];
                default: ;
            endcase

    always @(posedge clk or negedge rst_n)
        if (!rst_n) begin
            answered <= 0;
            prdata   <= 0;
        end else begin
            answered <= psel && penable && !answered;
            if (psel && penable && !answered && !pwrite)
                case (register)
                    DATA: prdata <= {24'd0, latch ? divisor[7:0] : rx_count != 0 ? rx_fifo[rx_first] : 8'd0};
                    IER: prdata <= {24'd0, latch ? divisor[15:8] : {4'd0, ier}};
                    IIR_FCR: prdata <= {24'd0, fifos_on, fifos_on, 2'd0, cause};
                    LCR: prdata <= {24'd0, lcr};
                    MCR: prdata <= {27'd0, mcr};
                    LSR: prdata <= {25'd0, tx_idle, tx_empty, 3'd0, overrun, rx_count != 0};
                    MSR: prdata <= 32'hb0;
                    SCR: prdata <= {24'd0, scr};
                endcase
        end
endmodule
